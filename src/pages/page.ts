/**
 * A page is a value: its address, what it reads, its forms and its view. Its reads and its forms are endpoints, so that a page shows and changes the same as the API
 * does, with the same rights, rules and effects (docs/decisions/0110-pages-are-made-of-endpoints.md).
 */
import type { FastifyReply } from 'fastify';
import type { Static, TSchema } from 'typebox';
import type { Device, Visitor, WaitingForm } from '../access/index.ts';
import type { ApiError, Page as ListPage, Services, Values } from '../http/index.ts';
import type { Content, Html } from './html.ts';
import type { OperationParameters } from './operations.ts';

/** The name of an endpoint. */
export type Operation = keyof OperationParameters;

/** Values for parameters of an endpoint. Of several that a page may run, each takes the parameters that it has. */
export type ParametersOf<O extends Operation> = { readonly [name in OperationParameters[O]]?: unknown };

/** The input of a page, and its calls. */
export interface PageCall {
  services: Services;
  caller: Visitor | undefined;
  /** The path that was asked for, without its query. */
  path: string;
  /** The parameters of the path, decoded. */
  params: Readonly<Record<string, string>>;
  query: Values;
  reply: FastifyReply;
  /** The device that the caller uses. */
  device: Device;
  /** The value of a cookie of this server that is not the session. */
  cookie(name: string): string | undefined;
  /**
   * Runs an endpoint that replies with one object. Parameters of its path that the page has too need not be given.
   * @param schema of the object
   * @param operation the name of the endpoint
   * @throws ApiError the refusal of the API
   */
  one<S extends TSchema, O extends Operation>(
    schema: S,
    operation: O,
    parameters?: ParametersOf<O>,
  ): Promise<Static<S>>;
  /** Runs an endpoint that replies with a whole list. */
  all<S extends TSchema, O extends Operation>(
    item: S,
    operation: O,
    parameters?: ParametersOf<O>,
  ): Promise<Static<S>[]>;
  /** Runs an endpoint that replies with a page of a list. */
  list<S extends TSchema, O extends Operation>(
    item: S,
    operation: O,
    parameters?: ParametersOf<O>,
  ): Promise<ListPage<Static<S>>>;
  /** What an endpoint replies with, whatever it is, and the schema of it or of the items of its list. */
  described<O extends Operation>(operation: O, parameters?: ParametersOf<O>): Promise<Described>;
  /** What an endpoint takes, from which controls of forms follow. */
  parameters(operation: Operation): Readonly<Record<string, TSchema>>;
  /** The bytes of a file. */
  bytes<O extends Operation>(operation: O, parameters?: ParametersOf<O>): Promise<FileParts>;
  /** Reads an optional object: undefined if it is hidden from the caller or missing. */
  perhaps<T>(asked: Promise<T>): Promise<T | undefined>;
  /** Whether the caller may run an endpoint. */
  may<O extends Operation>(operation: O, parameters?: ParametersOf<O>): Promise<boolean>;
}

/** A reply with its schema. */
export interface Described {
  schema: TSchema;
  reply: unknown;
}

/** A file as endpoints reply with it. */
export interface FileParts {
  body: unknown;
  headers?: Record<string, string>;
  status?: number;
}

/** A form of a page: the endpoint that it runs, or something that only pages do. */
export type PageForm = {
  /** Whether it is meant where a request names no form. */
  is_usual?: true;
  /** Whether the caller must have given their password or second factor within the last hour. */
  is_sensitive?: true;
} & (
  | {
      /** The operation that it runs. */
      runs: Operation;
      /** Parameters that the page adds. */
      parameters?: Values;
      /**
       * Makes the parameters of the fields, where those are not parameters themselves.
       * @param edited the version of what the form shows, as `edited` of its parts gives it
       * @throws ApiError a refusal, which is shown with the form
       */
      takes?(call: PageCall, fields: Values, edited: unknown): Promise<Values>;
      /** Runs it once for each value of a list among its fields: the name of the list, and of the parameter that one of its values is. */
      each?: { list: string; as: string };
      /** The text that has to be typed into the field `typed`, such as the path of what is deleted. */
      typed?(call: PageCall): string | Promise<string>;
      /** What it edits, as it is now. A form that was filled in before someone else changed it is refused. */
      edits?(call: PageCall): Promise<readonly unknown[]>;
      /** The address to go to afterwards; by default the page itself. */
      next?(reply: never, call: PageCall): string;
      /** Shows the reply of the endpoint instead of redirecting, for secrets that are shown only once. */
      shows?(reply: never, call: PageCall): View;
    }
  | {
      /**
       * @returns the address to go to afterwards, a `URL` for one elsewhere; a form to show filled in, or a view that is shown only once
       * @throws ApiError a refusal, which is shown with the form
       */
      act(call: PageCall, fields: Values): Promise<string | URL | Resumed | View>;
      /** Whether callers who are not signed in may send it. */
      anonymous?: true;
    }
);

/** A form that was sent by someone who had to give their password first. It is shown again once they have. */
export interface Resumed extends WaitingForm {
  visitor: Visitor;
  /** What is said above the form. */
  text: string;
}

/** The name under which a page finds the refusal of its query, and thus the form with the filters. */
export const filterName = 'filter';

/** A form that was refused, and what was typed. */
export interface RefusedForm {
  name: string;
  values: Values;
  refusal: ApiError;
  /** What was typed as it will look, if the form was sent to see that. Then nothing was refused. */
  preview?: Html;
}

/** The inputs of a view besides its data. */
export interface Seen {
  caller: Visitor | undefined;
  /** The path of the page, to which its forms are posted. */
  path: string;
  query: Values;
  /** Whether the caller may send a form of the page. */
  may(form: string): boolean;
  /** Values that all forms send, by the names of their fields. */
  always?: Readonly<Record<string, string | number>>;
  refused: RefusedForm | undefined;
}

/** The position of a page among others. */
export interface Place {
  /** The path of a group or project, whose parts lead to it. */
  id: string;
  kind: 'project' | 'group';
  /** The tab that is shown as the current one. */
  tab?: string;
}

export interface View {
  /** The title, innermost part first. The first part is the heading unless `heading` is given. */
  title: readonly string[];
  heading?: Content;
  place?: Place;
  /** Pieces are sent one after the other. */
  main: Html | AsyncIterable<Html>;
  /** What programs read in the head of the page, by name. */
  metadata?: Readonly<Record<string, string>>;
  /** The address of a feed of what it lists. */
  feed?: string;
  /** Whether search engines may show it, and archive nothing otherwise. */
  is_public?: true;
  /** Whether it contains a secret, so that it is neither compressed nor kept. */
  is_secret?: true;
  /** Origins of other servers to which its forms lead in the end: browsers follow no redirect to others. */
  leads_to?: readonly string[];
  /** The status of the reply, if it is not 200. */
  status?: number;
}

interface Address {
  /**
   * `/:id/-/…` is of a project, whose path has slashes, `/groups/:id/…` of a group, and `*rest` at the end takes all that follows. Parameters have the names that they have
   * in the paths of endpoints.
   */
  path: string;
  /** Whether only callers who are signed in may see it. */
  signed_in?: true;
  /** Whether it is open to those who must set up a second factor first. */
  without_second_factor?: true;
  /** Whether rendering reads much data, such as the content of a repository: crawlers are kept away, and anonymous visitors share a part of the process. */
  is_costly?: true;
}

export interface Page<Data> extends Address {
  /**
   * Asked before the page is shown.
   * @returns where to go instead: a path of this server, a `URL` that leads elsewhere, or a view that leads on itself; undefined to show the page
   */
  leads?(call: PageCall): Promise<string | URL | View | undefined>;
  load(call: PageCall): Promise<Data>;
  forms?: Readonly<Record<string, PageForm>>;
  view(data: Data, seen: Seen): View;
}

/** An address of a file. */
export interface FilePage extends Address {
  file(call: PageCall): Promise<FileParts>;
}

/** An address that leads to another one. */
export interface Redirect extends Address {
  /** @returns a path of this server, a `URL` that leads elsewhere, a form to show filled in, or why it leads nowhere */
  to(call: PageCall): Promise<string | URL | Resumed | View> | string | URL;
}

// biome-ignore lint/suspicious/noExplicitAny: the list of all pages has data of many types, each checked where it is written.
export type ViewPage = Page<any>;
export type AnyPage = ViewPage | FilePage | Redirect;

/** A page with its types. */
export const page = <Data>(path: string, rest: Omit<Page<Data>, 'path'>): Page<Data> => ({ path, ...rest });
export const filePage = (path: string, file: FilePage['file'], rest: Pick<FilePage, 'is_costly'> = {}): FilePage => ({
  path,
  file,
  ...rest,
});
export const redirect = (path: string, to: Redirect['to']): Redirect => ({ path, to });
