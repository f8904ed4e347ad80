<?php
// The adapter of the PHP package that openapi-generator generates. checks.py describes the protocol.

declare(strict_types=1);

require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = __DIR__ . '/generated/lib/' . str_replace('\\', '/', substr($class, strlen('CreatorApi\\'))) . '.php';
    if (str_starts_with($class, 'CreatorApi\\') && is_file($file)) {
        require $file;
    }
});
// A deprecation or a warning of the generated code is a failure.
set_error_handler(function (int $level, string $message): bool {
    throw new ErrorException($message, 0, $level);
});

use CreatorApi\Api;
use CreatorApi\ApiException;
use CreatorApi\Configuration;
use CreatorApi\Model;
use CreatorApi\ObjectSerializer;

const EVENTS = [
    'student.created' => Model\StudentCreatedEvent::class,
    'order.paid' => Model\OrderPaidEvent::class,
    'course.published' => Model\CoursePublishedEvent::class,
    'certificate.issued' => Model\CertificateIssuedEvent::class,
];

function event(array $arguments): array
{
    $headers = array_change_key_case($arguments['headers']);
    preg_match('/^t=(\d+),v1=(\w+)$/', $headers['x-svc-signature'], $parts);
    $expected = hash_hmac('sha256', $parts[1] . '.' . $arguments['body'], $arguments['secret']);
    if (!hash_equals($expected, $parts[2])) {
        return ['error' => ['code' => 'signature']];
    }
    $body = json_decode($arguments['body'], flags: JSON_THROW_ON_ERROR);
    $model = EVENTS[$body->type] ?? null;
    return ['value' => $model ? plain(ObjectSerializer::deserialize($body, $model)) : ['unknown' => $body->type]];
}

function plain(mixed $value): mixed
{
    return ObjectSerializer::sanitizeForSerialization($value);
}

function answer(array $call): array
{
    $arguments = $call['arguments'];
    if ($call['operation'] === 'event') {
        return event($arguments);
    }
    if (isset($arguments['created_after'])) {
        $arguments['created_after'] = new DateTime($arguments['created_after']);
    }
    $configuration = (new Configuration())->setHost($call['url'])->setAccessToken($call['key']);
    $http = new GuzzleHttp\Client();
    $courses = new Api\CoursesApi($http, $configuration);
    $students = new Api\StudentsApi($http, $configuration);
    $orders = new Api\OrdersApi($http, $configuration);
    $body = $arguments['body'] ?? [];
    return ['value' => plain(match ($call['operation']) {
        'listCourses' => $courses->listCourses(...$arguments),
        'getCourse' => $courses->getCourse($arguments['id']),
        'listStudents' => $students->listStudents(...$arguments),
        'createStudent' => $students->createStudent(new Model\NewStudent($body)),
        'getStudent' => $students->getStudent($arguments['id']),
        'listOrders' => $orders->listOrders(...$arguments),
        'getOrder' => $orders->getOrder($arguments['id']),
        'createEnrollment' => (new Api\EnrollmentsApi($http, $configuration))
            ->createEnrollment(new Model\NewEnrollment(['student_id' => $body['studentId'], 'course_id' => $body['courseId']])),
        'getAnalyticsSummary' => (new Api\AnalyticsApi($http, $configuration))->getAnalyticsSummary(),
    })];
}

while (($line = fgets(STDIN)) !== false) {
    try {
        $result = answer(json_decode($line, true, flags: JSON_THROW_ON_ERROR));
    } catch (ApiException $exception) {
        $error = json_decode((string) $exception->getResponseBody(), true)['error'] ?? null;
        $headers = array_change_key_case($exception->getResponseHeaders() ?? []);
        $result = $error === null ? ['exception' => $exception->getMessage()] : ['error' => [
            'status' => $exception->getCode(),
            'code' => $error['code'],
            'retry_after' => ((array) ($headers['retry-after'] ?? [null]))[0],
            'fields' => array_column($error['details'] ?? [], 'field'),
        ]];
    } catch (Throwable $exception) {
        $result = ['exception' => $exception::class . ': ' . $exception->getMessage()];
    }
    echo json_encode($result), "\n";
}
