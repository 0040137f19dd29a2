// What the API responds with and takes, by the path of a request: `/alerts/${encodeURIComponent(id)}?limit=5` is
// the route `GET /alerts/{}`. A path of which too little is known, such as one in a variable, has `any`; one
// that can be no route is refused.

import type { Answers, Bodies } from "telltale";

/** A part of a path, or `{}` if it is not literal: only then a record of it needs no property. */
type Part<S extends string> = {} extends Record<S, 1> ? "{}" : S;

/** The route of a path without its query: what is not literal is a parameter. */
type RouteOf<P extends string> = P extends `${infer First}/${infer Rest}`
  ? `${Part<First>}/${RouteOf<Rest>}`
  : Part<P>;

type WithoutQuery<P extends string> = P extends `${infer Path}?${string}` ? Path : P;

type KeyOf<M extends string, P extends string> = `${M} ${RouteOf<WithoutQuery<P>>}`;

/** The routes that a key may mean: its parameters can stand for any parts. */
type Pattern<Key extends string> = Key extends `${infer Before}{}${infer After}`
  ? `${Before}${string}${Pattern<After>}`
  : Key;

/** What a map has for routes; nothing is known of one that only may be among them. */
type Of<Map, Key extends string> = [Extract<Key, keyof Map>] extends [never]
  ? any
  : Map[Extract<Key, keyof Map>];

/** What a path must also be: nothing if it is no route. */
export type Route<M extends string, P extends string> =
  [Extract<keyof Answers, Pattern<KeyOf<M, P>>>] extends [never] ? never : unknown;

/** What a request responds with. */
export type Answer<M extends string, P extends string> = Of<Answers, KeyOf<M, P>>;

/** What a request takes. */
export type Body<M extends string, P extends string> = Of<Bodies, KeyOf<M, P>>;

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
