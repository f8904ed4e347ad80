"""The adapter of the package that openapi-python-client generates."""

import datetime
import json

from generated import AuthenticatedClient, models
from generated.api.analytics import get_analytics_summary
from generated.api.courses import get_course, list_courses
from generated.api.enrollments import create_enrollment
from generated.api.orders import get_order, list_orders
from generated.api.students import create_student, get_student, list_students
from shared_adapter import Failure, serve

CONVERTED = {
    "enrollment_status": models.EnrollmentStatusFilter,
    "status": models.OrderStatusFilter,
    "created_after": datetime.datetime.fromisoformat,
}


def connect(url, key):
    """Returns the operations."""
    client = AuthenticatedClient(base_url=url, token=key)

    def call(operation, *path, **arguments):
        arguments = {name: CONVERTED.get(name, lambda value: value)(value) for name, value in arguments.items()}
        response = operation.sync_detailed(*path, client=client, **arguments)
        if response.status_code >= 400:
            raise Failure(response.status_code, response.headers, response.content)
        return response.parsed.to_dict()

    return {
        "listCourses": lambda **query: call(list_courses, **query),
        "getCourse": lambda id: call(get_course, id),
        "listStudents": lambda **query: call(list_students, **query),
        "createStudent": lambda body: call(create_student, body=models.NewStudent.from_dict(body)),
        "getStudent": lambda id: call(get_student, id),
        "listOrders": lambda **query: call(list_orders, **query),
        "getOrder": lambda id: call(get_order, id),
        "createEnrollment": lambda body: call(create_enrollment, body=models.NewEnrollment.from_dict(body)),
        "getAnalyticsSummary": lambda: call(get_analytics_summary),
    }


def parser(model):
    """Returns a function that parses an event."""
    return lambda body: model.from_dict(json.loads(body)).to_dict()


if __name__ == "__main__":
    serve(
        connect,
        {
            "student.created": parser(models.StudentCreatedEvent),
            "order.paid": parser(models.OrderPaidEvent),
            "course.published": parser(models.CoursePublishedEvent),
            "certificate.issued": parser(models.CertificateIssuedEvent),
        },
    )
