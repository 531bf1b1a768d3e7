"""What can go wrong with a request, in the one shape that every refusal has: `{"error": {"code", "message"}}`."""

from __future__ import annotations

from typing import final

from starlette.responses import JSONResponse

_STATUS_CODES = {
    400: "bad_request",
    401: "not_let_in",
    403: "foreign",
    404: "not_found",
    405: "wrong_method",
    409: "refused",
    413: "too_large",
    415: "wrong_type",
    421: "wrong_host",
    500: "failed",
    503: "not_saved",
}
FAILED = "Something failed inside fewsight; the terminal in which it runs shows more."


@final
class Problem(Exception):
    """A request that is refused, with its HTTP status and one sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message

    @property
    def code(self) -> str:
        """A word for programs."""
        return _STATUS_CODES.get(self.status, "refused")

    def response(self) -> JSONResponse:
        """The answer to the request."""
        return JSONResponse({"error": {"code": self.code, "message": self.message}}, self.status)
