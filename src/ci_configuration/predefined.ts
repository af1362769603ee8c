/** Variables that follow from names (docs/reference/ci_configuration.md#variables). Pure functions. */
import type { CiVariable } from './expansion.ts';
import type { Bridge, Job } from './types.ts';

const maximumSlug = 63;

/** A name as part of a host name: at most 63 characters, lower case, with `-` for what is no letter and no digit, but not at the ends. */
export const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '-')
    .slice(0, maximumSlug)
    .replaceAll(/^-+|-+$/g, '');

/** Variables as they are, whatever is in them: names and messages of users are no references. */
export const rawVariables = (values: Readonly<Record<string, string | undefined>>): CiVariable[] =>
  Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [{ key, value, raw: true }]));

/** What is known of a job before it has an id. */
export const jobVariables = ({ name, written_name, stage, node }: Job | Bridge): CiVariable[] =>
  rawVariables({
    CI_JOB_NAME: name,
    CI_JOB_NAME_SLUG: slugOf(name),
    CI_JOB_STAGE: stage,
    CI_JOB_GROUP_NAME: written_name,
    CI_NODE_INDEX: node && String(node.index),
    CI_NODE_TOTAL: String(node?.total ?? 1),
  });
