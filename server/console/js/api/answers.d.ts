// What the API responds with and takes, by the path of a request: `/alerts/${id}?limit=5` is the route
// `GET /alerts/{}`. A path of which too little is known, such as one in a variable, has `any`.

import type { Answers, Bodies } from "telltale";

type Part<S extends string> = string extends S ? "{}" : S;

/** The route of a path without its query: what is not literal is a parameter. */
type RouteOf<P extends string> = P extends `${infer First}/${infer Rest}`
  ? `${Part<First>}/${RouteOf<Rest>}`
  : Part<P>;

type WithoutQuery<P extends string> = P extends `${infer Path}?${string}` ? Path : P;

type KeyOf<M extends string, P extends string> = `${M} ${RouteOf<WithoutQuery<P>>}`;

/** What a request responds with. */
export type Answer<M extends string, P extends string> =
  KeyOf<M, P> extends keyof Answers ? Answers[KeyOf<M, P>] : any;

/** What a request takes. */
export type Body<M extends string, P extends string> =
  KeyOf<M, P> extends keyof Bodies ? Bodies[KeyOf<M, P>] : any;

/** How a request is sent. */
export interface CallOptions<B = any> {
  body?: B;
  abort?: AbortSignal;
  /** The ETag that the resource must have. */
  ifMatch?: string | null;
  /** Further ones, such as `Prefer`. */
  headers?: Record<string, string>;
  /** Whether numbers keep their digits. */
  isExact?: boolean;
}
