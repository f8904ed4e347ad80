// The adapter of the client of @hey-api/openapi-ts that validates responses with generated zod schemas.
import { serve, unwrap } from "./adapter.js";
import { createClient } from "./generated/client/index.js";
import * as api from "./generated/sdk.gen.js";
import * as schemas from "./generated/zod.gen.js";

await serve(
  (baseUrl, auth) => {
    const client = createClient({ baseUrl, auth });
    return {
      listCourses: async (query) => unwrap(await api.listCourses({ client, query })),
      getCourse: async (path) => unwrap(await api.getCourse({ client, path })),
      listStudents: async (query) => unwrap(await api.listStudents({ client, query })),
      createStudent: async ({ body }) => unwrap(await api.createStudent({ client, body })),
      getStudent: async (path) => unwrap(await api.getStudent({ client, path })),
      listOrders: async (query) => unwrap(await api.listOrders({ client, query })),
      getOrder: async (path) => unwrap(await api.getOrder({ client, path })),
      createEnrollment: async ({ body }) => unwrap(await api.createEnrollment({ client, body })),
      getAnalyticsSummary: async (query) => unwrap(await api.getAnalyticsSummary({ client, query })),
    };
  },
  {
    "student.created": (body) => schemas.zStudentCreatedEvent.parse(JSON.parse(body)),
    "order.paid": (body) => schemas.zOrderPaidEvent.parse(JSON.parse(body)),
    "course.published": (body) => schemas.zCoursePublishedEvent.parse(JSON.parse(body)),
    "certificate.issued": (body) => schemas.zCertificateIssuedEvent.parse(JSON.parse(body)),
  },
);
