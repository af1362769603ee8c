/** Fields of statuses that older clients read: the counts of repositories and wikis under shorter names. */
import { type TSchema, Type } from 'typebox';
import { nullable } from '../../../../http/index.ts';
import type { Counts, SiteStatus } from './definition.ts';
import { percentage } from './rules.ts';

/** The former names of counts, with the current ones. */
const counts = {
  synced_count: 'synced_count',
  failed_count: 'failed_count',
  checksum_total_count: 'checksum_total_count',
  checksummed_count: 'checksummed_count',
  checksum_failed_count: 'checksum_failed_count',
  verification_total_count: 'verification_total_count',
  verified_count: 'verified_count',
  verification_failed_count: 'verification_failed_count',
  checksum_mismatch_count: 'verification_failed_count',
} as const satisfies Record<string, keyof Counts>;

const shares = {
  synced_in_percentage: ['synced_count', 'registry_count'],
  checksummed_in_percentage: ['checksummed_count', 'checksum_total_count'],
  verified_in_percentage: ['verified_count', 'verification_total_count'],
} as const satisfies Record<string, readonly [keyof Counts, keyof Counts]>;

/** Data that has no separate storage here. */
const absent = ['attachments', 'design_repositories'].flatMap((name) =>
  ['count', 'synced_count', 'failed_count', 'synced_in_percentage'].map((member) => `${name}_${member}`),
);

const Count = nullable(Type.Integer());

const schemaOf = (name: string): [string, TSchema][] => [
  ...Object.keys(counts).map((member): [string, TSchema] => [`${name}_${member}`, Count]),
  ...Object.keys(shares).map((member): [string, TSchema] => [`${name}_${member}`, Type.String()]),
];

export const formerSchema = {
  ...Object.fromEntries(['repositories', 'wikis'].flatMap(schemaOf)),
  wikis_count: Count,
  ...Object.fromEntries(absent.map((member): [string, TSchema] => [member, Type.Null()])),
};

const membersOf = (name: string, now: Counts | undefined): [string, unknown][] => [
  ...Object.entries(counts).map(([member, current]): [string, unknown] => [
    `${name}_${member}`,
    now?.[current] ?? null,
  ]),
  ...Object.entries(shares).map(([member, [part, total]]): [string, unknown] => [
    `${name}_${member}`,
    percentage(now?.[part] ?? null, now?.[total] ?? null),
  ]),
];

export const formerMembers = (status: SiteStatus | null): Record<string, unknown> => ({
  ...Object.fromEntries(membersOf('repositories', status?.counts.project_repositories)),
  ...Object.fromEntries(membersOf('wikis', status?.counts.project_wiki_repositories)),
  wikis_count: status?.counts.project_wiki_repositories.count ?? null,
  ...Object.fromEntries(absent.map((member) => [member, null])),
});
