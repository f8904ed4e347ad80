"""The adapter of our own package."""

import datetime
import json

import creator_api_client as package
from creator_api_client.generated import models
from creator_api_client.generated.api.analytics import get_analytics_summary
from creator_api_client.generated.api.courses import get_course, list_courses
from creator_api_client.generated.api.enrollments import create_enrollment
from creator_api_client.generated.api.orders import get_order, list_orders
from creator_api_client.generated.api.students import create_student, get_student, list_students
from shared_adapter import Failure, serve

CONVERTED = {
    "enrollment_status": models.EnrollmentStatusFilter,
    "status": models.OrderStatusFilter,
    "created_after": datetime.datetime.fromisoformat,
}


def connect(url, key):
    """Returns the operations."""
    client = package.create_client(url, key, max_retries=0)

    def call(operation, *path, **arguments):
        arguments = {name: CONVERTED.get(name, lambda value: value)(value) for name, value in arguments.items()}
        try:
            return package.data_of(operation.sync(*path, client=client, **arguments)).to_dict()
        except package.ApiError as error:
            headers = {} if error.retry_after is None else {"Retry-After": f"{error.retry_after:.0f}"}
            body = json.dumps({"error": {"code": error.code, "details": error.details}})
            raise Failure(error.status, headers, body) from error

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


class Events(dict):
    """The package finds the model of each type."""

    def get(self, event_type, default=None):
        """Returns a parser."""

        def parse(body):
            event = package.webhooks._parse(json.loads(body))
            unknown = isinstance(event, package.webhooks.UnknownEvent)
            return {"unknown": event.type} if unknown else event.to_dict()

        return parse


if __name__ == "__main__":
    serve(connect, Events())
