/** How hooks and their events appear in replies. */
import type { Static } from 'typebox';
import type { Secrets } from '../../../secrets/index.ts';
import { type Trigger, triggers } from '../../instance/hook_events/index.ts';
import type { flags, HookEvent, hookResources } from './parameters.ts';
import { type HookRow, noSecrets, unsealed } from './queries.ts';
import { alertStatus, type OwnerKind } from './rules.ts';

type Shown<K extends OwnerKind> = Static<(typeof hookResources)[K]>;

/** A hook of an owner of this kind. */
export function presentHook<K extends OwnerKind>(secrets: Secrets, names: (typeof flags)[K], row: HookRow): Shown<K> {
  const { token, signing_token, url_variables, custom_headers } = unsealed(secrets, row) ?? noSecrets;
  const keysOf = (entries: Record<string, string>) => Object.keys(entries).map((key) => ({ key }));
  const { id, url, name, description, created_at, enable_ssl_verification, disabled_until, custom_webhook_template } =
    row;
  const { push_events_branch_filter, branch_filter_strategy, project_id, group_id } = row;
  return {
    id,
    url,
    name,
    description,
    created_at,
    ...Object.fromEntries(Object.keys(names).map((flag) => [flag, row[flag as keyof HookRow]])),
    enable_ssl_verification,
    alert_status: alertStatus(row),
    disabled_until,
    url_variables: keysOf(url_variables),
    push_events_branch_filter,
    branch_filter_strategy,
    custom_webhook_template,
    custom_headers: keysOf(custom_headers),
    token_present: token !== undefined,
    signing_token_present: signing_token !== undefined,
    ...(project_id === null ? {} : { project_id }),
    ...(group_id === null ? {} : { group_id }),
  } as Shown<K>;
}

export interface EventRow {
  id: number;
  url: string | null;
  trigger: string;
  request_headers: unknown;
  /** Null if the body is too long to show. */
  body: string | null;
  response_status: number | null;
  response_headers: unknown;
  response_body: string | null;
  execution_duration: number | null;
}

export const presentEvent = (row: EventRow): Static<typeof HookEvent> => ({
  id: row.id,
  url: row.url ?? '',
  trigger: triggers[row.trigger as Trigger].log,
  request_headers: row.request_headers as Record<string, string>,
  request_data: row.body === null ? { oversize: true } : JSON.parse(row.body),
  response_headers: row.response_headers as Record<string, string>,
  response_body: row.response_body ?? '',
  execution_duration: row.execution_duration ?? 0,
  response_status: row.response_status === null ? 'internal error' : String(row.response_status),
});
