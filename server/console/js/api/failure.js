// Why a request failed, as the server said it.

/** A request that did not succeed. */
export class ApiFailure extends Error {
  /**
   * @param {{status: number, code: string, message: string, field?: string | null, retryAfter?: number | null,
   *   requestId?: string | null}} given
   */
  constructor({ status, code, message, field = null, retryAfter = null, requestId = null }) {
    super(message);
    this.name = "ApiFailure";
    this.status = status;
    this.code = code;
    this.field = field;
    /** Seconds. */
    this.retryAfter = retryAfter;
    this.requestId = requestId;
  }

  /** Returns the scope that the key lacks, if that is why. */
  get missingScope() {
    const found = /lacks the scope "(\w+)"/.exec(this.message);
    return this.status === 403 && found ? found[1] : null;
  }
}

/**
 * Returns why something failed, as a sentence.
 * @param {Failed} failure
 */
export function sentenceOf(failure) {
  if (failure.missingScope) return `Your key lacks the scope “${failure.missingScope}”.`;
  return `${failure.message.charAt(0).toUpperCase()}${failure.message.slice(1)}.`;
}

/**
 * Returns the failure of a response.
 * @param {Response} response
 */
export async function failureOf(response) {
  const body = await response.json().catch(() => null);
  const error = body?.error ?? {};
  const retryAfter = Number(response.headers.get("Retry-After"));
  return new ApiFailure({
    status: response.status,
    code: error.code ?? String(response.status),
    message: error.message ?? `the server responded with ${response.status}`,
    field: error.details?.field ?? null,
    retryAfter: Number.isFinite(retryAfter) && retryAfter > 0 ? retryAfter : null,
    requestId: response.headers.get("X-Request-Id"),
  });
}

/** Returns the failure of a request that got no response. */
export function unreachable() {
  return new ApiFailure({ status: 0, code: "unreachable", message: "the server cannot be reached" });
}
