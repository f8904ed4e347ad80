// The adapter of our own package.
import { ApiError, createClient, dataOf, webhooks } from "creator-api-client";
import { Failure, serve } from "./adapter.js";

/** Converts the error of the package. */
async function unwrap<T>(call: Promise<{ data?: T; response: Response }>): Promise<T> {
  try {
    return await dataOf(call);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const { status, code, details, retryAfterSeconds } = error;
    const headers = new Headers(retryAfterSeconds === null ? {} : { "Retry-After": String(retryAfterSeconds) });
    throw new Failure(new Response(null, { status, headers }), { error: { code, details } });
  }
}

await serve(
  (baseUrl, apiKey) => {
    const client = createClient({ baseUrl, apiKey, maxRetries: 0 });
    return {
      listCourses: (query) => unwrap(client.GET("/api/v1/courses", { params: { query } })),
      getCourse: ({ id }) => unwrap(client.GET("/api/v1/courses/{id}", { params: { path: { id } } })),
      listStudents: (query) => unwrap(client.GET("/api/v1/students", { params: { query } })),
      createStudent: ({ body }) => unwrap(client.POST("/api/v1/students", { body })),
      getStudent: ({ id }) => unwrap(client.GET("/api/v1/students/{id}", { params: { path: { id } } })),
      listOrders: (query) => unwrap(client.GET("/api/v1/orders", { params: { query } })),
      getOrder: ({ id }) => unwrap(client.GET("/api/v1/orders/{id}", { params: { path: { id } } })),
      createEnrollment: ({ body }) => unwrap(client.POST("/api/v1/enrollments", { body })),
      getAnalyticsSummary: (query) => unwrap(client.GET("/api/v1/analytics/summary", { params: { query } })),
    };
  },
  {
    "student.created": (body) => ofType(body, "student.created"),
    "order.paid": (body) => ofType(body, "order.paid"),
    "course.published": (body) => ofType(body, "course.published"),
    "certificate.issued": (body) => ofType(body, "certificate.issued"),
  },
);

function ofType<Type extends keyof webhooks.Events>(body: string, type: Type): webhooks.Events[Type] {
  const event: webhooks.UnknownEvent = JSON.parse(body);
  if (!webhooks.isEvent(event, type)) throw new Error(`the type is ${event.type}`);
  return event;
}
