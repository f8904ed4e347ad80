"""Calls all operations of the Developer API with the package that openapi-python-client generates from the served contract."""

import os
import time

import httpx
from developer_api import AuthenticatedClient
from developer_api.api.deliveries import get_delivery, list_deliveries, list_delivery_attempts, replay_delivery
from developer_api.api.event_feed import list_events
from developer_api.api.key import get_current_key, rotate_current_key
from developer_api.api.sandbox import advance_sandbox_clock, create_sandbox_event
from developer_api.api.webhooks import (
    create_webhook,
    delete_webhook,
    get_webhook,
    list_webhooks,
    preview_filter,
    rotate_webhook_secret,
    test_webhook,
    update_webhook,
)
from developer_api.models import (
    ClockAdvance,
    DeliveryStateFilter,
    ErrorEnvelope,
    EventTypeFilter,
    FilterPreviewRequest,
    KeyRotation,
    NewSandboxEventInput,
    NewWebhookInput,
    SecretRotation,
    TestEventInput,
    WebhookUpdateInput,
)

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["DEVELOPER_KEYS"].split()[1])


def check(operation, response):
    """Fails unless the operation succeeded; returns its response."""
    assert response is not None and not isinstance(response, ErrorEnvelope), f"{operation}: {response}"
    print(f"{operation}: ok")
    return response


assert check("getCurrentKey", get_current_key.sync(client=client)).workspace.name

new = NewWebhookInput(
    url="https://hooks.example.com/python", description="Python", event_types=[EventTypeFilter.STUDENT_CREATED]
)
idempotency_key = f"python-{time.time_ns()}"
webhook = check("createWebhook", create_webhook.sync(client=client, body=new, idempotency_key=idempotency_key))
repeated = check("createWebhook", create_webhook.sync(client=client, body=new, idempotency_key=idempotency_key))
assert (repeated.id, repeated.secret) == (webhook.id, webhook.secret)
assert check("listWebhooks", list_webhooks.sync(client=client, limit=1)).data[0].id == webhook.id
assert check("getWebhook", get_webhook.sync(webhook.id, client=client)).description == "Python"
condition = "student.created /email exists"
update = WebhookUpdateInput(description=None, rate=5, filter_=[condition])
updated = check("updateWebhook", update_webhook.sync(webhook.id, client=client, body=update))
assert (updated.description, updated.rate) == (None, 5), updated
preview = preview_filter.sync(webhook.id, client=client, body=FilterPreviewRequest(filter_=[condition]))
assert check("previewFilter", preview).event_types[0].event_type == "student.created"
rotation = rotate_webhook_secret.sync(webhook.id, client=client, body=SecretRotation(overlap_seconds=3600))
assert check("rotateWebhookSecret", rotation).secret != webhook.secret
test = check("testWebhook", test_webhook.sync(webhook.id, client=client, body=TestEventInput()))
assert check("getDelivery", get_delivery.sync(test.id, client=client)).webhook_id == webhook.id
check("listDeliveryAttempts", list_delivery_attempts.sync(test.id, client=client))
assert delete_webhook.sync_detailed(webhook.id, client=client).status_code == 204
print("deleteWebhook: ok")

# The webhook of the demo receives the event of a new student.
email = f"python-{time.time_ns()}@example.com"
student = httpx.post(
    f"{os.environ['BASE_URL']}/api/v1/students",
    headers={"Authorization": f"Bearer {os.environ['API_KEY']}"},
    json={"email": email},
)
assert student.status_code == 201, student.text
filters = {"state": DeliveryStateFilter.DELIVERED, "event_type": EventTypeFilter.STUDENT_CREATED}
delivered = []
for _ in range(50):
    time.sleep(0.2)
    delivered = check("listDeliveries", list_deliveries.sync(client=client, **filters)).data
    if delivered:
        break
replayed = check("replayDelivery", replay_delivery.sync(delivered[0].id, client=client))
assert replayed.replay_of == delivered[0].id

unknown = get_webhook.sync(webhook.id, client=client)
assert isinstance(unknown, ErrorEnvelope) and unknown.error.code == "not_found", unknown

# The demo is no sandbox.
new_event = NewSandboxEventInput(type_=EventTypeFilter.ORDER_PAID)
for operation, response in [
    ("createSandboxEvent", create_sandbox_event.sync(client=client, body=new_event)),
    ("advanceSandboxClock", advance_sandbox_clock.sync(client=client, body=ClockAdvance(advance_seconds=60))),
]:
    assert isinstance(response, ErrorEnvelope) and response.error.code == "forbidden", f"{operation}: {response}"
    print(f"{operation}: refused")

events = check("listEvents", list_events.sync(client=client, type_=EventTypeFilter.STUDENT_CREATED, limit=1000))
event = next(item for item in events.data if item.event["data"]["email"] == email)
# The generated function reads a whole response, and a stream ends after 10 minutes.
with client.get_httpx_client().stream("GET", "/developer/v1/events/stream", params={"since": 3600}) as stream:
    assert stream.status_code == 200, stream.status_code
    assert any(event.sequence in line for line in stream.iter_lines())
print("streamEvents: ok")

rotated = check("rotateCurrentKey", rotate_current_key.sync(client=client, body=KeyRotation(overlap_seconds=0)))
statuses = [
    get_current_key.sync_detailed(client=AuthenticatedClient(base_url=client._base_url, token=token)).status_code
    for token in [client.token, rotated.secret]
]
assert statuses == [401, 200], statuses
