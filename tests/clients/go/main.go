// The adapter of the Go package that openapi-generator generates. checks.py describes the protocol.
package main

import (
	"adapter/generated"
	"bufio"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strings"
	"time"
)

type arguments struct {
	ID               string            `json:"id"`
	Body             json.RawMessage   `json:"body"`
	Limit            *int32            `json:"limit"`
	Cursor           *string           `json:"cursor"`
	Email            *string           `json:"email"`
	Status           *string           `json:"status"`
	EnrollmentStatus *string           `json:"enrollment_status"`
	CreatedAfter     *time.Time        `json:"created_after"`
	Headers          map[string]string `json:"headers"`
	Secret           string            `json:"secret"`
}

type call struct {
	Operation string    `json:"operation"`
	URL       string    `json:"url"`
	Key       string    `json:"key"`
	Arguments arguments `json:"arguments"`
}

// result returns the result of an operation.
func result(value any, response *http.Response, err error) any {
	var failure *generated.GenericOpenAPIError
	if errors.As(err, &failure) && response != nil && response.StatusCode >= 400 {
		var body struct {
			Error struct {
				Code    string `json:"code"`
				Details []struct {
					Field string `json:"field"`
				} `json:"details"`
			} `json:"error"`
		}
		if err := json.Unmarshal(failure.Body(), &body); err != nil {
			return exception(err)
		}
		fields := []string{}
		for _, detail := range body.Error.Details {
			fields = append(fields, detail.Field)
		}
		return map[string]any{"error": map[string]any{
			"status": response.StatusCode, "code": body.Error.Code, "fields": fields,
			"retry_after": response.Header.Get("Retry-After"),
		}}
	}
	if err != nil {
		return exception(err)
	}
	return map[string]any{"value": value}
}

func exception(err error) any {
	return map[string]any{"exception": err.Error()}
}

func answer(call call) any {
	configuration := generated.NewConfiguration()
	configuration.Servers = generated.ServerConfigurations{{URL: call.URL}}
	configuration.AddDefaultHeader("Authorization", "Bearer "+call.Key)
	api, ctx, arguments := generated.NewAPIClient(configuration), context.Background(), call.Arguments
	switch call.Operation {
	case "listCourses":
		request := api.CoursesAPI.ListCourses(ctx)
		if arguments.Limit != nil {
			request = request.Limit(*arguments.Limit)
		}
		if arguments.Cursor != nil {
			request = request.Cursor(*arguments.Cursor)
		}
		return result(request.Execute())
	case "getCourse":
		return result(api.CoursesAPI.GetCourse(ctx, arguments.ID).Execute())
	case "listStudents":
		request := api.StudentsAPI.ListStudents(ctx)
		if arguments.Limit != nil {
			request = request.Limit(*arguments.Limit)
		}
		if arguments.Email != nil {
			request = request.Email(*arguments.Email)
		}
		if arguments.EnrollmentStatus != nil {
			request = request.EnrollmentStatus(generated.EnrollmentStatusFilter(*arguments.EnrollmentStatus))
		}
		if arguments.CreatedAfter != nil {
			request = request.CreatedAfter(*arguments.CreatedAfter)
		}
		return result(request.Execute())
	case "createStudent":
		var body generated.StudentInput
		if err := json.Unmarshal(arguments.Body, &body); err != nil {
			return exception(err)
		}
		return result(api.StudentsAPI.CreateStudent(ctx).StudentInput(body).Execute())
	case "getStudent":
		return result(api.StudentsAPI.GetStudent(ctx, arguments.ID).Execute())
	case "listOrders":
		request := api.OrdersAPI.ListOrders(ctx)
		if arguments.Limit != nil {
			request = request.Limit(*arguments.Limit)
		}
		if arguments.Status != nil {
			request = request.Status(generated.OrderStatusFilter(*arguments.Status))
		}
		return result(request.Execute())
	case "getOrder":
		return result(api.OrdersAPI.GetOrder(ctx, arguments.ID).Execute())
	case "createEnrollment":
		var body generated.EnrollmentInput
		if err := json.Unmarshal(arguments.Body, &body); err != nil {
			return exception(err)
		}
		return result(api.EnrollmentsAPI.CreateEnrollment(ctx).EnrollmentInput(body).Execute())
	case "getAnalyticsSummary":
		return result(api.AnalyticsAPI.GetAnalyticsSummary(ctx).Execute())
	case "event":
		return event(arguments)
	}
	return exception(fmt.Errorf("unknown operation %s", call.Operation))
}

// event verifies the signature of an event and parses it into the model of its type.
func event(arguments arguments) any {
	var body string
	if err := json.Unmarshal(arguments.Body, &body); err != nil {
		return exception(err)
	}
	header := ""
	for name, value := range arguments.Headers {
		if strings.EqualFold(name, "X-SVC-Signature") {
			header = value
		}
	}
	parts := regexp.MustCompile(`^t=(\d+),v1=(\w+)$`).FindStringSubmatch(header)
	mac := hmac.New(sha256.New, []byte(arguments.Secret))
	mac.Write([]byte(parts[1] + "." + body))
	if !hmac.Equal([]byte(hex.EncodeToString(mac.Sum(nil))), []byte(parts[2])) {
		return map[string]any{"error": map[string]any{"code": "signature"}}
	}
	var envelope struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(body), &envelope); err != nil {
		return exception(err)
	}
	models := map[string]any{
		"student.created":    &generated.StudentCreatedEvent{},
		"order.paid":         &generated.OrderPaidEvent{},
		"course.published":   &generated.CoursePublishedEvent{},
		"certificate.issued": &generated.CertificateIssuedEvent{},
	}
	model, known := models[envelope.Type]
	if !known {
		return map[string]any{"value": map[string]any{"unknown": envelope.Type}}
	}
	return result(model, nil, json.Unmarshal([]byte(body), model))
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var call call
		var output any
		if err := json.Unmarshal(lines.Bytes(), &call); err != nil {
			output = exception(err)
		} else {
			output = answer(call)
		}
		text, err := json.Marshal(output)
		if err != nil {
			text, _ = json.Marshal(exception(err))
		}
		fmt.Println(string(text))
	}
}
