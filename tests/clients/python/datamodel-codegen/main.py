"""The adapter of the models of datamodel-code-generator. The requests are made with urllib."""

import json
import urllib.error
import urllib.parse
import urllib.request

from generated import models
from shared_adapter import Failure, serve


def connect(url, key):
    """Returns the operations."""

    def call(model, path, body=None, query=None):
        target = f"{url}/api/v1{path}" + (f"?{urllib.parse.urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        data = body.model_dump_json(exclude_unset=True).encode() if body else None
        try:
            with urllib.request.urlopen(urllib.request.Request(target, data, headers)) as response:
                return dump(model.model_validate_json(response.read()))
        except urllib.error.HTTPError as error:
            raise Failure(error.code, error.headers, error.read()) from error

    return {
        "listCourses": lambda **query: call(models.CourseList, "/courses", query=query),
        "getCourse": lambda id: call(models.CourseDetail, f"/courses/{id}"),
        "listStudents": lambda **query: call(models.StudentList, "/students", query=query),
        "createStudent": lambda body: call(models.Student, "/students", models.NewStudent.model_validate(body)),
        "getStudent": lambda id: call(models.Student, f"/students/{id}"),
        "listOrders": lambda **query: call(models.OrderList, "/orders", query=query),
        "getOrder": lambda id: call(models.Order, f"/orders/{id}"),
        "createEnrollment": lambda body: call(
            models.Enrollment, "/enrollments", models.NewEnrollment.model_validate(body)
        ),
        "getAnalyticsSummary": lambda: call(models.AnalyticsSummary, "/analytics/summary"),
    }


def dump(value):
    """Returns a model as JSON."""
    return json.loads(value.model_dump_json(by_alias=True))


def parser(model):
    """Returns a function that parses an event."""
    return lambda body: dump(model.model_validate_json(body))


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
