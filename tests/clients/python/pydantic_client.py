"""Performs all seven operations through the package that openapi-generator makes of the served 3.0 twin."""

import os
import time

import generated_client
from generated_client import api
from generated_client.exceptions import NotFoundException

configuration = generated_client.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"])
client = generated_client.ApiClient(configuration)


def sound(operation, answer):
    assert answer is not None, operation
    print(f"{operation}: ok")
    return answer


courses = api.CoursesApi(client)
course = sound("listCourses", courses.list_courses(limit=2)).data[0]
detail = sound("getCourse", courses.get_course(course.id))
assert sum(len(module.lessons) for module in detail.modules) == detail.lesson_count

students = api.StudentsApi(client)
email = f"pydantic-{time.time_ns()}@example.com"
new = generated_client.NewStudent(email=email, tags=["client"])
student = sound("createStudent", students.create_student(new))
listed = sound("listStudents", students.list_students(email=email))
assert [one.id for one in listed.data] == [student.id]

body = generated_client.NewEnrollment(student_id=student.id, course_id=course.id)
enrollment = sound("createEnrollment", api.EnrollmentsApi(client).create_enrollment(body))
assert enrollment.status == "active" and enrollment.student_id == student.id

orders = sound("listOrders", api.OrdersApi(client).list_orders(limit=1))
assert orders.data[0].total_amount >= 0
sound("getAnalyticsSummary", api.AnalyticsApi(client).get_analytics_summary())

try:
    courses.get_course("nothing")
    raise AssertionError("an id of nothing is not found")
except NotFoundException as refused:
    assert refused.data.error.code == "not_found", refused
