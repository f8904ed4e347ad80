"""Calls all operations with the package that openapi-generator generates from the served OpenAPI 3.0 document."""

import os
import time

import generated_client
from generated_client import api
from generated_client.exceptions import NotFoundException

configuration = generated_client.Configuration(host=os.environ["BASE_URL"], access_token=os.environ["API_KEY"])
client = generated_client.ApiClient(configuration)


def check(operation, response):
    """Fails unless the operation succeeded; returns its response."""
    assert response is not None, operation
    print(f"{operation}: ok")
    return response


courses = api.CoursesApi(client)
course = check("listCourses", courses.list_courses(limit=2)).data[0]
detail = check("getCourse", courses.get_course(course.id))
assert sum(len(module.lessons) for module in detail.modules) == detail.lesson_count

students = api.StudentsApi(client)
email = f"pydantic-{time.time_ns()}@example.com"
new_student = generated_client.NewStudent(email=email, tags=["client"])
student = check("createStudent", students.create_student(new_student))
listed = check("listStudents", students.list_students(email=email))
assert [listed_student.id for listed_student in listed.data] == [student.id]

body = generated_client.NewEnrollment(student_id=student.id, course_id=course.id)
enrollment = check("createEnrollment", api.EnrollmentsApi(client).create_enrollment(body))
assert enrollment.status == "active" and enrollment.student_id == student.id
enrolled = check("getStudent", students.get_student(student.id))
assert [listed_enrollment.id for listed_enrollment in enrolled.enrollments] == [enrollment.id]

orders = api.OrdersApi(client)
listed_order = check("listOrders", orders.list_orders(limit=1)).data[0]
order = check("getOrder", orders.get_order(listed_order.id))
assert order == listed_order and order.total_amount >= 0
check("getAnalyticsSummary", api.AnalyticsApi(client).get_analytics_summary())

try:
    courses.get_course("unknown")
    raise AssertionError("expected 404 for an unknown id")
except NotFoundException as error:
    assert error.data.error.code == "not_found", error
