/** Questions to the source of a migration, over its REST API. Nothing that it answers is believed. */
import { type Fetched, fetchJson } from '../../../outbound/index.ts';

export interface Source {
  /** Without a slash at the end. */
  url: string;
  token: string;
  /** Whether the settings of this server allow addresses of the local network. */
  may_be_local: boolean;
  /** How long the source may be silent. */
  silence_ms: number;
  /** Ends every request. */
  signal: AbortSignal;
}

const mostJson_bytes = 20 * 1024 * 1024;

type Query = Readonly<Record<string, string | number | boolean>>;

/** The address of an endpoint of the source. */
const addressOf = (source: Pick<Source, 'url'>, path: string, query: Query = {}) => {
  const parameters = new URLSearchParams(
    Object.entries(query).map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return `${source.url}/api/v4${path}${parameters === '' ? '' : `?${parameters}`}`;
};

const requestOf = ({ token, may_be_local, silence_ms, signal }: Source, method: 'GET' | 'POST', url: string) => ({
  ...{ method, url, headers: { accept: 'application/json', 'accept-encoding': 'identity' }, verifies_tls: true },
  ...{ secret_headers: { 'private-token': token }, may_be_local, silence_ms, signal },
});

/**
 * Asks once, and gives whatever the source answers.
 * @throws OutboundError without an answer
 */
export const answerOf = (source: Source, path: string, query?: Query): Promise<Fetched> =>
  fetchJson(requestOf(source, 'GET', addressOf(source, path, query)), mostJson_bytes);

export const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The path of a group or project in URLs of the source. */
export const pathAtSource = (entity: { entity_type: 'group' | 'project'; source_full_path: string }): string =>
  `/${entity.entity_type}s/${encodeURIComponent(entity.source_full_path)}`;
