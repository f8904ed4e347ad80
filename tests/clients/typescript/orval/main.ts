// The adapter of the fetch client of orval.
import { Failure, serve } from "./adapter";
import * as api from "./generated/v1";
import type { CertificateIssuedEvent, CoursePublishedEvent, OrderPaidEvent, StudentCreatedEvent } from "./generated/model";

/** Returns the data of a successful response. */
function unwrap<R extends { data: unknown; status: number; headers: Headers }>(result: R): unknown {
  if (result.status < 400) return result.data;
  throw new Failure(new Response(null, { status: result.status, headers: result.headers }), result.data);
}

// The imports of the generated code have no extensions, so it is compiled to CommonJS, which has no top-level `await`.
void serve(
  (baseUrl, key) => {
    // The generated functions request paths, because the contract's server is `/`.
    const send = globalThis.fetch;
    const options = { headers: { Authorization: `Bearer ${key}` } };
    const at = async <R extends { data: unknown; status: number; headers: Headers }>(call: () => Promise<R>) => {
      globalThis.fetch = (path, init) => send(`${baseUrl}${path}`, init);
      try {
        return unwrap(await call());
      } finally {
        globalThis.fetch = send;
      }
    };
    return {
      listCourses: (query) => at(() => api.listCourses(query, options)),
      getCourse: ({ id }) => at(() => api.getCourse(id, options)),
      listStudents: (query) => at(() => api.listStudents(query, options)),
      createStudent: ({ body }) => at(() => api.createStudent(body, options)),
      getStudent: ({ id }) => at(() => api.getStudent(id, options)),
      listOrders: (query) => at(() => api.listOrders(query, options)),
      getOrder: ({ id }) => at(() => api.getOrder(id, options)),
      createEnrollment: ({ body }) => at(() => api.createEnrollment(body, options)),
      getAnalyticsSummary: (query) => at(() => api.getAnalyticsSummary(query, options)),
    };
  },
  {
    "student.created": (body): StudentCreatedEvent => JSON.parse(body),
    "order.paid": (body): OrderPaidEvent => JSON.parse(body),
    "course.published": (body): CoursePublishedEvent => JSON.parse(body),
    "certificate.issued": (body): CertificateIssuedEvent => JSON.parse(body),
  },
);
