/** The order of the steps, and their public names (docs/reference/bulk_imports.md#how-it-runs). Pure functions. */
import type { EntityType } from './definition.ts';

/** The names of the steps, in stages: those of one run at the same time, and the next stage begins when all of one have ended. */
export const stages: Readonly<Record<EntityType, readonly (readonly string[])[]>> = {
  group: [
    ['export'],
    ['group'],
    ['user_contributions'],
    ['labels', 'milestones', 'members', 'push_rule', 'iterations_cadences'],
    ['epics', 'uploads', 'wiki', 'entities'],
    ['epic_links', 'group_links'],
    ['numbers', 'others'],
  ],
  project: [
    ['export'],
    ['project'],
    ['user_contributions'],
    ['repository', 'lfs_objects', 'members'],
    ['labels', 'milestones', 'approval_rules'],
    ['issues', 'snippets'],
    ['merge_requests', 'commit_notes', 'ci_pipelines', 'issue_links', 'freeze_periods'],
    ['uploads', 'wiki'],
    ['protected_branches', 'protected_tags', 'push_rule'],
    ['numbers', 'others'],
    ['archived'],
  ],
};

/** Steps without which an entity is worth nothing. */
export const isVital = (name: string): boolean => ['export', 'group', 'project', 'repository'].includes(name);

const camel = (name: string) => name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** The class that does the step in the public product, e.g. `BulkImports::Projects::Pipelines::IssuesPipeline`. */
export const pipelineClass = (type: EntityType, name: string): string =>
  `BulkImports::${type === 'group' ? 'Groups' : 'Projects'}::Pipelines::${camel(name)}Pipeline`;

const firstMinutes_s = 300;
/** How long the source may give no good answer. */
export const longestSilence_s = 1800;

/**
 * Seconds until the source is asked again.
 * @param tries how often it has given no good answer, from 1
 * @param silence_s since it gave the last good one
 */
export const pauseAfter = (tries: number, silence_s: number): number =>
  silence_s >= firstMinutes_s ? 60 : Math.min(2 ** (tries - 1), 10);

/** Relations whose content is in `self`, too. */
export const carriedBySelf: readonly string[] = ['self', 'project_feature', 'namespace_settings'];

/** Left out by rule, and counted only. */
export const leftOut: ReadonlySet<string> = new Set(['webhooks_count', 'error_tracking_setting', 'custom_attributes']);
