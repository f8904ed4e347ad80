"""Performs all seven operations through the package that openapi-python-client makes of the served contract."""

import os
import time

from contract_client import AuthenticatedClient
from contract_client.api.analytics import get_analytics_summary
from contract_client.api.courses import get_course, list_courses
from contract_client.api.enrollments import create_enrollment
from contract_client.api.orders import list_orders
from contract_client.api.students import create_student, list_students
from contract_client.models import ErrorEnvelope, NewEnrollment, NewStudent

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["API_KEY"])


def sound(operation, answer):
    assert answer is not None and not isinstance(answer, ErrorEnvelope), f"{operation}: {answer}"
    print(f"{operation}: ok")
    return answer


course = sound("listCourses", list_courses.sync(client=client, limit=2)).data[0]
detail = sound("getCourse", get_course.sync(course.id, client=client))
assert sum(len(module.lessons) for module in detail.modules) == detail.lesson_count

email = f"attrs-{time.time_ns()}@example.com"
student = sound("createStudent", create_student.sync(client=client, body=NewStudent(email=email, tags=["client"])))
listed = sound("listStudents", list_students.sync(client=client, email=email))
assert [one.id for one in listed.data] == [student.id]

body = NewEnrollment(student_id=student.id, course_id=course.id)
enrollment = sound("createEnrollment", create_enrollment.sync(client=client, body=body))
assert enrollment.status == "active" and enrollment.student_id == student.id

orders = sound("listOrders", list_orders.sync(client=client, limit=1))
assert orders.data[0].total_amount >= 0
sound("getAnalyticsSummary", get_analytics_summary.sync(client=client))

refused = get_course.sync("nothing", client=client)
assert isinstance(refused, ErrorEnvelope) and refused.error.code == "not_found", refused
