# The adapter of the Ruby package that openapi-generator generates. checks.py describes the protocol.

require "json"
require "openssl"
require "uri"

$LOAD_PATH.unshift(File.join(__dir__, "generated/lib"))
require "creator_api"
$stdout.sync = true

EVENTS = {
  "student.created" => CreatorApi::StudentCreatedEvent,
  "order.paid" => CreatorApi::OrderPaidEvent,
  "course.published" => CreatorApi::CoursePublishedEvent,
  "certificate.issued" => CreatorApi::CertificateIssuedEvent,
}.freeze

def event(arguments)
  header = arguments[:headers].find { |name, _| name.to_s.downcase == "x-svc-signature" }.last
  time, signature = header.match(/\At=(\d+),v1=(\w+)\z/).captures
  expected = OpenSSL::HMAC.hexdigest("SHA256", arguments[:secret], "#{time}.#{arguments[:body]}")
  return { error: { code: "signature" } } unless OpenSSL.secure_compare(expected, signature)

  body = JSON.parse(arguments[:body], symbolize_names: true)
  model = EVENTS[body[:type]]
  { value: model ? model.build_from_hash(body).to_hash : { unknown: body[:type] } }
end

def connect(call)
  url = URI(call[:url])
  configuration = CreatorApi::Configuration.new
  configuration.server_index = nil
  configuration.scheme = url.scheme
  configuration.host = "#{url.host}:#{url.port}"
  configuration.base_path = url.path
  configuration.access_token = call[:key]
  CreatorApi::ApiClient.new(configuration)
end

def answer(call)
  arguments = call[:arguments]
  return event(arguments) if call[:operation] == "event"

  client = connect(call)
  courses, students = CreatorApi::CoursesApi.new(client), CreatorApi::StudentsApi.new(client)
  orders = CreatorApi::OrdersApi.new(client)
  value =
    case call[:operation]
    when "listCourses" then courses.list_courses(arguments)
    when "getCourse" then courses.get_course(arguments[:id])
    when "listStudents" then students.list_students(arguments)
    when "createStudent" then students.create_student(CreatorApi::NewStudent.build_from_hash(arguments[:body]))
    when "getStudent" then students.get_student(arguments[:id])
    when "listOrders" then orders.list_orders(arguments)
    when "getOrder" then orders.get_order(arguments[:id])
    when "createEnrollment"
      body = CreatorApi::NewEnrollment.build_from_hash(arguments[:body])
      CreatorApi::EnrollmentsApi.new(client).create_enrollment(body)
    when "getAnalyticsSummary" then CreatorApi::AnalyticsApi.new(client).get_analytics_summary
    end
  { value: value.to_hash }
end

$stdin.each_line do |line|
  result =
    begin
      answer(JSON.parse(line, symbolize_names: true))
    rescue CreatorApi::ApiError => error
      body = JSON.parse(error.response_body.to_s, symbolize_names: true)[:error] rescue nil
      headers = (error.response_headers || {}).transform_keys(&:downcase)
      fields = body&.dig(:details)&.map { |detail| detail[:field] } || []
      described = { status: error.code, code: body&.dig(:code), retry_after: headers["retry-after"], fields: fields }
      body ? { error: described } : { exception: error.message }
    rescue StandardError => error
      { exception: "#{error.class}: #{error.message}" }
    end
  puts JSON.generate(result)
end
