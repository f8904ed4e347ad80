"""Client of the Creator Platform API.

`generated.api` contains one module for each operation, and `generated.models` the types.
"""

from . import webhooks as webhooks
from .client import create_client as create_client, data_of as data_of, paginate as paginate
from .errors import (
    ApiError as ApiError,
    ConfigurationError as ConfigurationError,
    ConnectionError as ConnectionError,
    CreatorApiError as CreatorApiError,
    ForbiddenError as ForbiddenError,
    InternalError as InternalError,
    InvalidRequestError as InvalidRequestError,
    InvalidResponseError as InvalidResponseError,
    NotFoundError as NotFoundError,
    RateLimitedError as RateLimitedError,
    UnauthorizedError as UnauthorizedError,
)
