// The adapter of the client of openapi-generator for TypeScript (typescript-fetch).
import { Failure, serve } from "./adapter.js";
import * as api from "./generated/index.js";

/** Converts the error of the generated code. */
async function unwrap(call: Promise<unknown>): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof api.ResponseError) throw new Failure(error.response, await error.response.json());
    throw error;
  }
}

const date = (text: string | undefined) => (text === undefined ? undefined : new Date(text));

await serve(
  (basePath, accessToken) => {
    const configuration = new api.Configuration({ basePath, accessToken });
    const [courses, students] = [new api.CoursesApi(configuration), new api.StudentsApi(configuration)];
    const [orders, enrollments] = [new api.OrdersApi(configuration), new api.EnrollmentsApi(configuration)];
    const analytics = new api.AnalyticsApi(configuration);
    const to = { course: api.CourseDetailToJSON, student: api.StudentToJSON, order: api.OrderToJSON };
    return {
      listCourses: (query) => unwrap(courses.listCourses(query).then(api.CourseListToJSON)),
      getCourse: ({ id }) => unwrap(courses.getCourse({ id }).then(to.course)),
      listStudents: ({ enrollment_status, created_after, ...query }) =>
        unwrap(
          students
            .listStudents({ ...query, enrollmentStatus: enrollment_status, createdAfter: date(created_after) })
            .then(api.StudentListToJSON),
        ),
      createStudent: ({ body }) =>
        unwrap(students.createStudent({ newStudent: api.NewStudentFromJSON(body) }).then(to.student)),
      getStudent: ({ id }) => unwrap(students.getStudent({ id }).then(to.student)),
      listOrders: (query) => unwrap(orders.listOrders(query).then(api.OrderListToJSON)),
      getOrder: ({ id }) => unwrap(orders.getOrder({ id }).then(to.order)),
      createEnrollment: ({ body }) =>
        unwrap(
          enrollments.createEnrollment({ newEnrollment: api.NewEnrollmentFromJSON(body) }).then(api.EnrollmentToJSON),
        ),
      getAnalyticsSummary: (query) => unwrap(analytics.getAnalyticsSummary(query).then(api.AnalyticsSummaryToJSON)),
    };
  },
  {
    "student.created": (body) => api.StudentCreatedEventToJSON(api.StudentCreatedEventFromJSON(JSON.parse(body))),
    "order.paid": (body) => api.OrderPaidEventToJSON(api.OrderPaidEventFromJSON(JSON.parse(body))),
    "course.published": (body) => api.CoursePublishedEventToJSON(api.CoursePublishedEventFromJSON(JSON.parse(body))),
    "certificate.issued": (body) =>
      api.CertificateIssuedEventToJSON(api.CertificateIssuedEventFromJSON(JSON.parse(body))),
  },
);
