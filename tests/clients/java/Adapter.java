import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import creator.api.AnalyticsApi;
import creator.api.CoursesApi;
import creator.api.EnrollmentsApi;
import creator.api.OrdersApi;
import creator.api.StudentsApi;
import creator.invoker.ApiClient;
import creator.invoker.ApiException;
import creator.model.CertificateIssuedEvent;
import creator.model.CoursePublishedEvent;
import creator.model.EnrollmentStatusFilter;
import creator.model.NewEnrollment;
import creator.model.NewStudent;
import creator.model.OrderPaidEvent;
import creator.model.OrderStatusFilter;
import creator.model.StudentCreatedEvent;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The adapter of the Java client that openapi-generator generates. checks.py describes the protocol. */
public final class Adapter {
    private static final ObjectMapper JSON = ApiClient.createDefaultObjectMapper();
    private static final Map<String, Class<?>> EVENTS = Map.of(
            "student.created", StudentCreatedEvent.class,
            "order.paid", OrderPaidEvent.class,
            "course.published", CoursePublishedEvent.class,
            "certificate.issued", CertificateIssuedEvent.class);

    private Adapter() {}

    /** Answers the calls from standard input. */
    public static void main(String[] ignored) throws Exception {
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            Object result;
            try {
                result = Map.of("value", answer(JSON.readTree(line)));
            } catch (ApiException error) {
                result = failure(error);
            } catch (SecurityException error) {
                result = Map.of("error", Map.of("code", "signature"));
            } catch (Exception error) {
                result = Map.of("exception", error.toString());
            }
            System.out.println(JSON.writeValueAsString(result));
        }
    }

    private static Object failure(ApiException error) throws Exception {
        if (error.getResponseBody() == null || error.getCode() == 0) {
            return Map.of("exception", error.toString());
        }
        JsonNode body = JSON.readTree(error.getResponseBody()).path("error");
        List<String> fields = new ArrayList<>();
        body.path("details").forEach(detail -> fields.add(detail.path("field").asText()));
        Map<String, Object> described = new TreeMap<>();
        described.put("status", error.getCode());
        described.put("code", body.path("code").asText());
        described.put("retry_after", error.getResponseHeaders().firstValue("retry-after").orElse(null));
        described.put("fields", fields);
        return Map.of("error", described);
    }

    private static Object answer(JsonNode call) throws Exception {
        JsonNode arguments = call.path("arguments");
        ApiClient client = new ApiClient();
        client.updateBaseUri(call.path("url").asText());
        client.setRequestInterceptor(
                request -> request.header("Authorization", "Bearer " + call.path("key").asText()));
        var courses = new CoursesApi(client);
        var students = new StudentsApi(client);
        var orders = new OrdersApi(client);
        String id = text(arguments, "id");
        Integer limit = arguments.has("limit") ? arguments.get("limit").asInt() : null;
        String after = text(arguments, "created_after");
        OffsetDateTime createdAfter = after == null ? null : OffsetDateTime.parse(after);
        switch (call.path("operation").asText()) {
            case "listCourses":
                return courses.listCourses(
                        text(arguments, "cursor"), limit, null, createdAfter, null, null, null, null, null, null);
            case "getCourse":
                return courses.getCourse(id, null);
            case "listStudents":
                String enrollment = text(arguments, "enrollment_status");
                var enrollmentStatus = enrollment == null ? null : EnrollmentStatusFilter.fromValue(enrollment);
                return students.listStudents(
                        null, limit, null, createdAfter, null, null, null, text(arguments, "email"), null, null,
                        enrollmentStatus, null, null);
            case "createStudent":
                return students.createStudent(JSON.treeToValue(arguments.get("body"), NewStudent.class), null);
            case "getStudent":
                return students.getStudent(id, null);
            case "listOrders":
                String order = text(arguments, "status");
                var orderStatus = order == null ? null : OrderStatusFilter.fromValue(order);
                return orders.listOrders(
                        null, limit, null, null, null, null, null, null, null, orderStatus, null, null, null, null,
                        null);
            case "getOrder":
                return orders.getOrder(id, null);
            case "createEnrollment":
                var body = JSON.treeToValue(arguments.get("body"), NewEnrollment.class);
                return new EnrollmentsApi(client).createEnrollment(body, null);
            case "getAnalyticsSummary":
                return new AnalyticsApi(client).getAnalyticsSummary(null, null, null, null, null, null);
            case "event":
                return event(arguments);
            default:
                throw new IllegalArgumentException("unknown operation " + call.path("operation"));
        }
    }

    private static String text(JsonNode node, String name) {
        return node.path(name).isTextual() ? node.get(name).asText() : null;
    }

    private static Object event(JsonNode arguments) throws Exception {
        String header = "";
        for (var entries = arguments.get("headers").fields(); entries.hasNext();) {
            var entry = entries.next();
            header = entry.getKey().equalsIgnoreCase("X-SVC-Signature") ? entry.getValue().asText() : header;
        }
        String time = header.replaceFirst("^t=(\\d+),.*", "$1");
        String body = text(arguments, "body");
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(text(arguments, "secret").getBytes(StandardCharsets.UTF_8), "HmacSHA256"));
        byte[] expected = mac.doFinal((time + "." + body).getBytes(StandardCharsets.UTF_8));
        byte[] sent = HexFormat.of().parseHex(header.replaceFirst(".*v1=", ""));
        if (!MessageDigest.isEqual(expected, sent)) {
            throw new SecurityException("signature");
        }
        String type = JSON.readTree(body).path("type").asText();
        Class<?> model = EVENTS.get(type);
        return model == null ? Map.of("unknown", type) : JSON.readValue(body, model);
    }
}
