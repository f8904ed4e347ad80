// The adapter of the types of openapi-typescript, used with openapi-fetch.
import createClient from "openapi-fetch";
import { serve, unwrap } from "./adapter.js";
import type { paths, webhooks } from "./generated/v1.js";

type Created = webhooks["student.created"]["post"]["requestBody"]["content"]["application/json"];
type Paid = webhooks["order.paid"]["post"]["requestBody"]["content"]["application/json"];
type Published = webhooks["course.published"]["post"]["requestBody"]["content"]["application/json"];
type Issued = webhooks["certificate.issued"]["post"]["requestBody"]["content"]["application/json"];

await serve(
  (baseUrl, key) => {
    const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
    return {
      listCourses: async (query) => unwrap(await client.GET("/api/v1/courses", { params: { query } })),
      getCourse: async ({ id }) => unwrap(await client.GET("/api/v1/courses/{id}", { params: { path: { id } } })),
      listStudents: async (query) => unwrap(await client.GET("/api/v1/students", { params: { query } })),
      createStudent: async ({ body }) => unwrap(await client.POST("/api/v1/students", { body })),
      getStudent: async ({ id }) => unwrap(await client.GET("/api/v1/students/{id}", { params: { path: { id } } })),
      listOrders: async (query) => unwrap(await client.GET("/api/v1/orders", { params: { query } })),
      getOrder: async ({ id }) => unwrap(await client.GET("/api/v1/orders/{id}", { params: { path: { id } } })),
      createEnrollment: async ({ body }) => unwrap(await client.POST("/api/v1/enrollments", { body })),
      getAnalyticsSummary: async (query) => unwrap(await client.GET("/api/v1/analytics/summary", { params: { query } })),
    };
  },
  {
    "student.created": (body): Created => JSON.parse(body),
    "order.paid": (body): Paid => JSON.parse(body),
    "course.published": (body): Published => JSON.parse(body),
    "certificate.issued": (body): Issued => JSON.parse(body),
  },
);
