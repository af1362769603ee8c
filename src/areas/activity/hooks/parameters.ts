/** The fields of hooks: parameters and reply fields. */
import { Type } from 'typebox';
import { allOptional, checked, Id, nullable, optional, refusedAs, resource, Timestamp } from '../../../http/index.ts';
import { tooLong } from '../../../texts/index.ts';
import {
  headerReasons,
  keyReasons,
  maximumLengths,
  type OwnerKind,
  signingTokenReasons,
  tokenReasons,
  valueReasons,
} from './rules.ts';

const Flag = (description: string) => Type.Boolean({ description });

const everywhere = {
  push_events: Flag('Pushes to branches; default true, for hooks of the server false'),
  tag_push_events: Flag('Pushes of tags'),
  merge_requests_events: Flag('Merge requests'),
  repository_update_events: Flag('Pushes, once for all references; for hooks of the server, default true'),
};
const ofPlaces = {
  issues_events: Flag('Issues that are not confidential'),
  confidential_issues_events: Flag('Confidential issues'),
  note_events: Flag('Comments'),
  confidential_note_events: Flag('Internal comments and those on confidential issues'),
  milestone_events: Flag('Milestones'),
  emoji_events: Flag('Emoji reactions'),
  resource_access_token_events: Flag('Access tokens that expire soon'),
  error_events: Flag(
    'Errors of applications that are new, happen again or happen too often, and changes of their status',
  ),
  job_events: Flag('Commit statuses that are reported, as jobs'),
  pipeline_events: Flag('Pipelines whose status changes'),
  wiki_page_events: Flag('Pages of wikis'),
  deployment_events: Flag('Deployments that are recorded, and changes of their status'),
  feature_flag_events: Flag('Feature flags'),
  releases_events: Flag('Releases that are created, changed or deleted'),
  vulnerability_events: Flag('New vulnerabilities that are high or critical'),
};
const ofGroups = {
  member_events: Flag('Members of the group and what is below it'),
  subgroup_events: Flag('New and removed subgroups'),
  project_events: Flag('New and removed projects'),
};

/** The events to which hooks of each kind of owner can subscribe. */
export const flags = {
  project: { ...everywhere, ...ofPlaces },
  group: { ...everywhere, ...ofPlaces, ...ofGroups },
  instance: everywhere,
};

const short = (most: number) => (text: string | null) => tooLong(text ?? '', most);

const Pairs = (key: (text: string) => string[], description: string) =>
  Type.Array(Type.Object({ key: checked(Type.String(), key), value: checked(Type.String(), valueReasons) }), {
    description,
  });

const Strategy = Type.Enum(['wildcard', 'regex', 'all_branches'], {
  description: 'How `push_events_branch_filter` is read',
});

export const SigningToken = checked(
  nullable(Type.String({ description: '`whsec_` and the Base64 of 32 bytes: signs each delivery; never shown' })),
  signingTokenReasons,
);

export const CustomHeaders = Pairs(headerReasons, 'Sent with each delivery; values are never shown');

/** The parameters of every hook. */
export const given = allOptional({
  name: checked(nullable(Type.String({ description: 'At most 255 characters' })), short(maximumLengths.name)),
  description: checked(
    nullable(Type.String({ description: 'At most 2,048 characters' })),
    short(maximumLengths.description),
  ),
  token: checked(nullable(Type.String({ description: 'Sent with each delivery; never shown' })), tokenReasons),
  signing_token: SigningToken,
  enable_ssl_verification: Type.Boolean({ description: 'Whether the certificate of the address must be valid' }),
  push_events_branch_filter: nullable(Type.String({ description: 'Only pushes to these branches; empty: all' })),
  branch_filter_strategy: Strategy,
  custom_webhook_template: checked(
    nullable(Type.String({ description: 'JSON with `{{…}}` for values of the usual body, instead of it' })),
    short(maximumLengths.template),
  ),
  url_variables: Pairs(keyReasons, 'Values for `{key}` in the address; never shown'),
  custom_headers: CustomHeaders,
});

export const Url = Type.String({ description: 'Address, at most 2,048 characters, with `http` or `https`' });
export const HeaderKey = checked(Type.String(), headerReasons);
export const VariableKey = checked(Type.String(), keyReasons);
export const EntryValue = checked(Type.String(), valueReasons);

const Keys = Type.Array(Type.Object({ key: Type.String() }));

const shownFields = {
  id: Id,
  url: Type.String(),
  name: nullable(Type.String()),
  description: nullable(Type.String()),
  created_at: Timestamp,
  enable_ssl_verification: Type.Boolean(),
  alert_status: Type.Enum(['executable', 'disabled', 'temporarily_disabled']),
  disabled_until: nullable(Timestamp),
  url_variables: Keys,
  push_events_branch_filter: nullable(Type.String()),
  branch_filter_strategy: Strategy,
  custom_webhook_template: nullable(Type.String()),
  custom_headers: Keys,
  token_present: Type.Boolean(),
  signing_token_present: Type.Boolean(),
};

/** The replies. */
export const hookResources = {
  project: resource('ProjectHook', { ...shownFields, ...flags.project, project_id: Id }),
  group: resource('GroupHook', { ...shownFields, ...flags.group, group_id: Id }),
  instance: resource('SystemHook', { ...shownFields, ...flags.instance }),
} satisfies Record<OwnerKind, unknown>;

export const HookEvent = resource('HookEvent', {
  id: Id,
  url: Type.String(),
  trigger: Type.String(),
  request_headers: Type.Record(Type.String(), Type.String()),
  request_data: Type.Unknown({ description: '`{"oversize": true}` for more than 100 KiB' }),
  response_headers: Type.Record(Type.String(), Type.String()),
  response_body: Type.String({ description: 'The first 8 KiB; without a response, why there was none' }),
  execution_duration: Type.Number({ description: 'Seconds' }),
  response_status: Type.String({ description: '`internal error` without a response' }),
});

/** A filter by a status, or by a class of statuses. */
export const EventStatus = optional(
  refusedAs(
    'does not have a valid value',
    Type.Unsafe<number | string>({
      type: 'string',
      pattern: '^(successful|client_failure|server_failure|[1-5][0-9][0-9])$',
      description: 'A status, or `successful` (2xx), `client_failure` (4xx) or `server_failure` (5xx)',
    }),
  ),
);
