// Calls all operations with the types that openapi-typescript generates from the served contract. Compilation is
// part of the test: tsc rejects a field that the contract does not have.
import createClient from "openapi-fetch";
import type { components, paths } from "./v1.js";

declare const process: { env: Record<string, string | undefined>; exitCode: number };

const client = createClient<paths>({
  baseUrl: process.env["BASE_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["API_KEY"]}` },
});

/** Throws unless the operation succeeded; returns its response body. */
function check<T>(operation: string, response: { data?: T | undefined; error?: components["schemas"]["ErrorEnvelope"] | undefined }): T {
  if (response.data === undefined) throw new Error(`${operation}: ${response.error?.error.message}`);
  console.log(`${operation}: ok`);
  return response.data;
}

const courses = check("listCourses", await client.GET("/api/v1/courses", { params: { query: { limit: 2 } } }));
const course = courses.data[0];
if (course === undefined) throw new Error("the demo has no courses");
const detail = check("getCourse", await client.GET("/api/v1/courses/{id}", { params: { path: { id: course.id } } }));
const lessons: number = detail.modules.flatMap((module) => module.lessons).length;
if (lessons !== detail.lesson_count) throw new Error("`lesson_count` differs from the number of lessons");

const email = `typescript-${Date.now()}@example.com`;
const student = check("createStudent", await client.POST("/api/v1/students", { body: { email, tags: ["client"] } }));
const students = check("listStudents", await client.GET("/api/v1/students", { params: { query: { email } } }));
if (students.data[0]?.id !== student.id) throw new Error("the created student is not listed");

const body = { studentId: student.id, courseId: course.id };
const enrollment = check("createEnrollment", await client.POST("/api/v1/enrollments", { body }));
if (enrollment.status !== "active") throw new Error("the new enrollment is not active");
const enrolled = check("getStudent", await client.GET("/api/v1/students/{id}", { params: { path: { id: student.id } } }));
if (enrolled.enrollments[0]?.id !== enrollment.id) throw new Error("the student does not have the new enrollment");

const orders = check("listOrders", await client.GET("/api/v1/orders", { params: { query: { limit: 1 } } }));
const listedOrder = orders.data[0];
if (listedOrder === undefined) throw new Error("the demo has no orders");
const order = check("getOrder", await client.GET("/api/v1/orders/{id}", { params: { path: { id: listedOrder.id } } }));
const total: number = order.total_amount;
if (total !== listedOrder.total_amount) throw new Error("the order differs from the listed one");

const query = { interval: "month" as const };
const summary = check("getAnalyticsSummary", await client.GET("/api/v1/analytics/summary", { params: { query } }));
if (summary.series === null) throw new Error("the monthly summary has no series");

const notFound = await client.GET("/api/v1/courses/{id}", { params: { path: { id: "unknown" } } });
if (notFound.error?.error.code !== "not_found") throw new Error("expected the error code `not_found`");
