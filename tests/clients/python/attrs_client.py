"""Calls all operations with the package that openapi-python-client generates from the served contract."""

import os
import time

from contract_client import AuthenticatedClient
from contract_client.api.analytics import get_analytics_summary
from contract_client.api.courses import get_course, list_courses
from contract_client.api.enrollments import create_enrollment
from contract_client.api.orders import get_order, list_orders
from contract_client.api.students import create_student, get_student, list_students
from contract_client.models import ErrorEnvelope, NewEnrollment, NewStudent

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])


def check(operation, response):
    """Fails unless the operation succeeded; returns its response."""
    assert response is not None and not isinstance(response, ErrorEnvelope), f"{operation}: {response}"
    print(f"{operation}: ok")
    return response


course = check("listCourses", list_courses.sync(client=client, limit=2)).data[0]
detail = check("getCourse", get_course.sync(course.id, client=client))
assert sum(len(module.lessons) for module in detail.modules) == detail.lesson_count

email = f"attrs-{time.time_ns()}@example.com"
student = check("createStudent", create_student.sync(client=client, body=NewStudent(email=email, tags=["client"])))
listed = check("listStudents", list_students.sync(client=client, email=email))
assert [listed_student.id for listed_student in listed.data] == [student.id]

body = NewEnrollment(student_id=student.id, course_id=course.id)
enrollment = check("createEnrollment", create_enrollment.sync(client=client, body=body))
assert enrollment.status == "active" and enrollment.student_id == student.id
enrolled = check("getStudent", get_student.sync(student.id, client=client))
assert [listed_enrollment.id for listed_enrollment in enrolled.enrollments] == [enrollment.id]

orders = check("listOrders", list_orders.sync(client=client, limit=1))
order = check("getOrder", get_order.sync(orders.data[0].id, client=client))
assert order == orders.data[0]
check("getAnalyticsSummary", get_analytics_summary.sync(client=client))

not_found = get_course.sync("unknown", client=client)
assert isinstance(not_found, ErrorEnvelope) and not_found.error.code == "not_found", not_found
