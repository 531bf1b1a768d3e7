// Asking the server: every refusal has one shape, and is one of three kinds of error.

/** The server said no, and will say no again. */
export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}
/** The server cannot do it just now; `later` if nothing is wrong with the request, such as when the disk is full. */
export class Troubled extends Error {
  constructor(message, later) {
    super(message);
    this.later = later;
  }
}
/** This browser's cookie is of an earlier run. */
export class Restarted extends Error {}

const PATIENCE = 15000; // milliseconds

export async function ask(path, body) {
  const request = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  };
  const response = await fetch(path, { ...request, cache: "no-store", signal: AbortSignal.timeout(PATIENCE) });
  if (response.ok) return response.json();
  const message = await response.json().then((found) => found.error.message, () => response.statusText);
  if (response.status === 401) throw new Restarted(message);
  if (response.status >= 500) throw new Troubled(message, response.status === 503);
  throw new Refused(response.status, message);
}
