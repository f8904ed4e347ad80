"""Calls all operations of the Platform API with the package that openapi-python-client generates from the served contract."""

import datetime
import os
import time

import httpx
from platform_api import AuthenticatedClient
from platform_api.api.changes import import_changes
from platform_api.api.dashboard_links import create_dashboard_link
from platform_api.api.event_feed import list_events
from platform_api.models import ErrorEnvelope, NewDashboardLink, StudentUpsert, WorkspaceUpsert
from platform_api.models.student_upsert_data import StudentUpsertData
from platform_api.models.workspace_upsert_data import WorkspaceUpsertData
from platform_api.types import UNSET

client = AuthenticatedClient(base_url=os.environ["BASE_URL"], token=os.environ["PLATFORM_TOKEN"])


def check(operation, response):
    """Fails unless the operation succeeded; returns its response."""
    assert response is not None and not isinstance(response, ErrorEnvelope), f"{operation}: {response}"
    print(f"{operation}: ok")
    return response


now = datetime.datetime.now(datetime.timezone.utc)
workspace = f"python-{time.time_ns()}"
owner = WorkspaceUpsertData(key=workspace, name="Python", owner_email="py@example.com")
student = StudentUpsertData(key="ada", email="ada@example.com")
# The generated client sends one line, and reads one result, in each request.
for change in [
    WorkspaceUpsert(change="workspace.upsert", id=f"{workspace}-1", workspace=workspace, at=now, data=owner),
    StudentUpsert(change="student.upsert", id=f"{workspace}-2", workspace=workspace, at=now, data=student),
]:
    result = check("importChanges", import_changes.sync(client=client, body=change))
    assert (result.line, result.id, result.result, result.errors) == (1, change.id, "applied", []), result

found, cursor, more = [], UNSET, True
while more:
    page = check("listEvents", list_events.sync(client=client, after=now, limit=1000, wait=5, cursor=cursor))
    found += [item.sequence for item in page.data if item.event["type"] == "student.created"]
    cursor, more = page.pagination.cursor, not found or page.pagination.has_more
assert len(found) == 1, found

person = NewDashboardLink(workspace=workspace, email="py@example.com")
link = check("createDashboardLink", create_dashboard_link.sync(client=client, body=person))
assert httpx.get(link.url).status_code == 303, link.url

unknown = NewDashboardLink(workspace="unknown", email="py@example.com")
not_found = create_dashboard_link.sync(client=client, body=unknown)
assert isinstance(not_found, ErrorEnvelope) and not_found.error.code == "not_found", not_found
