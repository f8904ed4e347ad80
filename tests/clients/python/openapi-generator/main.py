"""The adapter of the package that openapi-generator generates."""

import datetime
import json

import generated_client as generated
from generated_client import models
from shared_adapter import Failure, serve


def connect(url, key):
    """Returns the operations."""
    configuration = generated.Configuration(host=url, access_token=key)
    # The default has an offset without a colon, which is not RFC 3339.
    configuration.datetime_format = "%Y-%m-%dT%H:%M:%SZ"
    client = generated.ApiClient(configuration)
    courses, students = generated.CoursesApi(client), generated.StudentsApi(client)
    orders, enrollments = generated.OrdersApi(client), generated.EnrollmentsApi(client)
    analytics = generated.AnalyticsApi(client)

    def call(operation, *arguments, **query):
        if "created_after" in query:
            query["created_after"] = datetime.datetime.fromisoformat(query["created_after"])
        try:
            return json.loads(operation(*arguments, **query).to_json())
        except generated.ApiException as error:
            if error.status is None or error.headers is None:
                raise
            raise Failure(error.status, error.headers, error.body) from error

    return {
        "listCourses": lambda **query: call(courses.list_courses, **query),
        "getCourse": lambda id: call(courses.get_course, id),
        "listStudents": lambda **query: call(students.list_students, **query),
        "createStudent": lambda body: call(students.create_student, models.NewStudent.from_dict(body)),
        "getStudent": lambda id: call(students.get_student, id),
        "listOrders": lambda **query: call(orders.list_orders, **query),
        "getOrder": lambda id: call(orders.get_order, id),
        "createEnrollment": lambda body: call(enrollments.create_enrollment, models.NewEnrollment.from_dict(body)),
        "getAnalyticsSummary": lambda: call(analytics.get_analytics_summary),
    }


def parser(model):
    """Returns a function that parses an event."""
    return lambda body: json.loads(model.from_json(body).to_json())


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
