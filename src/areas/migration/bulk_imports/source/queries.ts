/** Requests to the REST API of a migration's source. Its responses are not trusted. */
import { InvalidContent, type Json, LimitExceeded, readJson } from '../../../../archives/index.ts';
import {
  BlockedError,
  type Download,
  download,
  fetchWhole,
  LimitError,
  OutboundError,
  RefusedRedirect,
} from '../../../../outbound/index.ts';

export interface Source {
  /** Without a slash at the end. */
  url: string;
  token: string;
  /** Whether the settings of this server allow addresses of the local network. */
  may_be_local: boolean;
  /** The user whose share of the parser threads is used for responses. */
  user_id: number;
  /** How long the source may be silent. */
  silence_ms: number;
  /** Aborts every request. */
  signal: AbortSignal;
}

/** The source cannot fulfil the request; a retry would not help. */
export class SourceFailure extends Error {
  override name = 'SourceFailure';
  readonly exception_class: 'NetworkError' | 'ExportFailed' | 'NotExported' | 'InvalidContent' | 'LimitExceeded';
  /** The status of the response, if there was one. */
  readonly status: number | undefined;
  constructor(exception_class: SourceFailure['exception_class'], message: string, status?: number) {
    super(message);
    this.exception_class = exception_class;
    this.status = status;
  }
}

/** The source gave no valid response; a retry may help. */
export class Unanswered extends Error {
  override name = 'Unanswered';
  /** How long the source tells clients to wait. */
  readonly retry_after_s: number | undefined;
  constructor(message: string, retry_after_s?: number) {
    super(message);
    this.retry_after_s = retry_after_s;
  }
}

const maximumJson_bytes = 20 * 1024 * 1024;
const maximumPages = 100_000;
const perPage = 100;
const maximumWait_s = 3600;

export type Query = Readonly<Record<string, string | number | boolean>>;

/** The address of an endpoint of the source. */
const addressOf = (source: Pick<Source, 'url'>, path: string, query: Query = {}) => {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `${source.url}/api/v4${path}${parameters === '' ? '' : `?${parameters}`}`;
};

const requestOf = ({ token, may_be_local, silence_ms, signal }: Source, method: 'GET' | 'POST', url: string) => ({
  method,
  url,
  headers: { accept: 'application/json', 'accept-encoding': 'identity' },
  verifies_tls: true,
  secret_headers: { 'private-token': token },
  may_be_local,
  silence_ms,
  signal,
});

interface Answer {
  status: number;
  headers: Record<string, string>;
  /** Undefined when the answer is not JSON. */
  value: Json | undefined;
}

async function jsonOf(source: Source, request: Parameters<typeof fetchWhole>[0]): Promise<Answer> {
  const { status, headers, body } = await fetchWhole(request, maximumJson_bytes);
  try {
    return { status, headers, value: await readJson(body, source.user_id) };
  } catch (error) {
    if (error instanceof InvalidContent) return { status, headers, value: undefined };
    throw error;
  }
}

/**
 * Sends one GET request, and returns the response whatever its status.
 * @throws OutboundError if there is no response, LimitExceeded
 */
export const answerOf = (source: Source, path: string, query?: Query): Promise<Answer> =>
  jsonOf(source, requestOf(source, 'GET', addressOf(source, path, query)));

const isTemporary = (status: number) => status === 408 || status === 425 || status === 429 || status >= 500;

/** Seconds from `Retry-After`, which holds either seconds or a date. */
function retryAfter_s(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : Math.ceil((Date.parse(header) - Date.now()) / 1000);
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 0), maximumWait_s) : undefined;
}

/** @throws Unanswered for a status that can be retried, SourceFailure for any other unsuccessful status */
function checkStatus({ status, headers }: Omit<Answer, 'value'>): void {
  if (status >= 200 && status < 300) return;
  if (isTemporary(status)) throw new Unanswered(`The source answered ${status}.`, retryAfter_s(headers['retry-after']));
  throw new SourceFailure('NetworkError', `The source answered ${status}.`, status);
}

export const sentence = (text: string) => (text.endsWith('.') ? text : `${text}.`);

/** Converts the errors of a request to the classes of this file. */
async function asked<T>(request: Promise<T>): Promise<T> {
  try {
    return await request;
  } catch (error) {
    if (error instanceof LimitExceeded || error instanceof LimitError)
      throw new SourceFailure('LimitExceeded', sentence(error.message));
    if (error instanceof BlockedError || error instanceof RefusedRedirect)
      throw new SourceFailure('NetworkError', sentence(error.message));
    if (error instanceof OutboundError) throw new Unanswered(sentence(error.message));
    throw error;
  }
}

/**
 * Requests JSON.
 * @throws Unanswered, SourceFailure
 */
export async function ask(source: Source, path: string, query?: Query): Promise<Answer> {
  const answer = await asked(answerOf(source, path, query));
  checkStatus(answer);
  if (answer.value === undefined) throw new SourceFailure('InvalidContent', 'The source did not answer with JSON.');
  return answer;
}

/**
 * Sends a POST request to the source.
 * @throws Unanswered, SourceFailure
 */
export async function order(source: Source, path: string, body: object): Promise<void> {
  const request = requestOf(source, 'POST', addressOf(source, path));
  const headers = { ...request.headers, 'content-type': 'application/json' };
  checkStatus(await asked(fetchWhole({ ...request, headers, body: JSON.stringify(body) }, maximumJson_bytes)));
}

/**
 * Checks that a repository can be fetched.
 * @param url of the repository, with `.git`
 * @throws Unanswered, SourceFailure
 */
export async function checkRepository(
  source: Source,
  url: string,
  { username, password }: { username: string; password: string },
): Promise<void> {
  const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  const request = requestOf(source, 'GET', `${url}/info/refs?service=git-upload-pack`);
  // With this protocol version the response does not list the refs.
  const headers = { ...request.headers, accept: '*/*', 'git-protocol': 'version=2' };
  checkStatus(await asked(fetchWhole({ ...request, headers, secret_headers: { authorization } }, maximumJson_bytes)));
}

/** The number of the next page, from `x-next-page` or `Link`. */
function nextPage({ 'x-next-page': next, link }: Record<string, string>): number | undefined {
  const linked = link
    ?.split(',')
    .find((part) => /rel="?next"?/.test(part))
    ?.match(/[?&]page=(\d+)/)?.[1];
  const page = Number(next || linked);
  return Number.isSafeInteger(page) && page > 0 ? page : undefined;
}

/**
 * Requests a list page by page.
 * @throws Unanswered, SourceFailure
 */
export async function* listed(
  source: Source,
  path: string,
  query: Query = {},
): AsyncGenerator<Record<string, unknown>> {
  let page: number | undefined = 1;
  for (let pages = 0; page !== undefined; pages++) {
    if (pages === maximumPages)
      throw new SourceFailure('LimitExceeded', `The list has more than ${maximumPages} pages.`);
    const { value, headers } = await ask(source, path, { ...query, per_page: perPage, page });
    if (!Array.isArray(value)) throw new SourceFailure('InvalidContent', 'The source did not answer with a list.');
    for (const item of value) if (isRecord(item)) yield item;
    page = nextPage(headers);
  }
}

/** The same list; empty if the source does not have it, or does not show it to the importer. */
export async function* listedIfShown(
  source: Source,
  path: string,
  query?: Query,
): AsyncGenerator<Record<string, unknown>> {
  try {
    yield* listed(source, path, query);
  } catch (error) {
    if (!isAbsent(error)) throw error;
  }
}

/** Whether the error means that the source does not have the resource, or does not show it to the importer. */
export const isAbsent = (error: unknown): boolean =>
  error instanceof SourceFailure && (error.status === 403 || error.status === 404);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The path of a group or project in URLs of the source. */
export const pathAtSource = (entity: { entity_type: 'group' | 'project'; source_full_path: string }): string =>
  `/${entity.entity_type}s/${encodeURIComponent(entity.source_full_path)}`;

/** Downloads a small file; undefined if the source does not have it, or does not show it to the importer. */
export async function bytesIfShown(source: Source, path: string, most_bytes: number): Promise<Buffer | undefined> {
  const answer = await asked(fetchWhole(requestOf(source, 'GET', addressOf(source, path)), most_bytes));
  if (answer.status === 403 || answer.status === 404) return undefined;
  checkStatus(answer);
  return answer.body;
}

const fileTypes = new Set(['application/gzip', 'application/x-gzip', 'application/octet-stream']);

/**
 * Downloads a file.
 * @throws Unanswered, SourceFailure
 */
export async function fetchFile(source: Source, path: string, query: Query, to: Download): Promise<void> {
  const answer = await asked(download(requestOf(source, 'GET', addressOf(source, path, query)), to));
  checkStatus(answer);
  const type = /^[^;]*/.exec(answer.headers['content-type'] ?? '')![0].trim();
  if (!fileTypes.has(type)) throw new SourceFailure('InvalidContent', 'The source did not answer with a file.');
}
