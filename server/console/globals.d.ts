// Types that all scripts use, and what browsers have that TypeScript's library does not know yet.

/** The reference to an element that a component always has: it is there in effects and handlers. */
type ElementRef<T extends Element> = import("preact").RefObject<T>;

/** The properties of a component, of which some have types. */
type Props<T> = T & Record<string, any>;

/** A column of a table (parts/table.js). */
interface Column<T> {
  label: string;
  cell: (row: T) => unknown;
  isNumber?: boolean;
  isEnd?: boolean;
  isMono?: boolean;
  isUnseen?: boolean;
}

/** What went wrong: the failure of a request (api/failure.js) says more than other errors. */
type Failed = Error & {
  status?: number;
  code?: string;
  field?: string | null;
  missingScope?: string | null;
  retryAfter?: number | null;
};

interface JSON {
  rawJSON?(text: string): object;
  isRawJSON?(value: unknown): boolean;
  parse(text: string, reviver: (key: string, value: any, context: { source: string }) => any): any;
}

interface MapConstructor {
  groupBy<K, T>(items: Iterable<T>, keyOf: (item: T, index: number) => K): Map<K, T[]>;
}

declare namespace Intl {
  interface WeekInfo {
    firstDay: number;
  }
  interface Locale {
    getWeekInfo?(): WeekInfo;
    weekInfo?: WeekInfo;
  }
}
