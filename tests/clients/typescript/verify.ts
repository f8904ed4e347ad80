// Performs all seven operations through the types that openapi-typescript makes of the served contract. That it compiles
// is half of the test: a field that the contract does not have is an error of tsc.
import createClient from "openapi-fetch";
import type { components, paths } from "./v1.js";

declare const process: { env: Record<string, string | undefined>; exitCode: number };

const client = createClient<paths>({
  baseUrl: process.env["BASE_URL"] ?? "",
  headers: { Authorization: `Bearer ${process.env["API_KEY"]}` },
});

function sound<T>(operation: string, answer: { data?: T | undefined; error?: components["schemas"]["ErrorEnvelope"] | undefined }): T {
  if (answer.data === undefined) throw new Error(`${operation}: ${answer.error?.error.message}`);
  console.log(`${operation}: ok`);
  return answer.data;
}

const courses = sound("listCourses", await client.GET("/api/v1/courses", { params: { query: { limit: 2 } } }));
const course = courses.data[0];
if (course === undefined) throw new Error("the demo has courses");
const detail = sound("getCourse", await client.GET("/api/v1/courses/{id}", { params: { path: { id: course.id } } }));
const lessons: number = detail.modules.flatMap((module) => module.lessons).length;
if (lessons !== detail.lesson_count) throw new Error("a course has the lessons that it counts");

const email = `typescript-${Date.now()}@example.com`;
const student = sound("createStudent", await client.POST("/api/v1/students", { body: { email, tags: ["client"] } }));
const students = sound("listStudents", await client.GET("/api/v1/students", { params: { query: { email } } }));
if (students.data[0]?.id !== student.id) throw new Error("the student that was made is listed");

const body = { studentId: student.id, courseId: course.id };
const enrollment = sound("createEnrollment", await client.POST("/api/v1/enrollments", { body }));
if (enrollment.status !== "active") throw new Error("an enrollment begins active");

const orders = sound("listOrders", await client.GET("/api/v1/orders", { params: { query: { limit: 1 } } }));
const total: number | undefined = orders.data[0]?.total_amount;
if (total === undefined) throw new Error("the demo has orders");

const query = { interval: "month" as const };
const summary = sound("getAnalyticsSummary", await client.GET("/api/v1/analytics/summary", { params: { query } }));
if (summary.series === null) throw new Error("a summary by months has a series");

const refused = await client.GET("/api/v1/courses/{id}", { params: { path: { id: "nothing" } } });
if (refused.error?.error.code !== "not_found") throw new Error("an error has its code");
