/** The order of the steps, and their public names (docs/reference/bulk_imports.md#how-it-runs). Pure functions. */
import type { EntityType } from './definition.ts';

/** Steps that run at the same time; the next stage of an entity begins when all of one have ended. */
type Stage = readonly string[];

/**
 * The stages of entities, in phases. The contents of a group or project begin when those of the group above it are here, of which they use labels and the like.
 * What leads from one entity to another begins when the contents of all are here, and so does each phase after it.
 */
const phases: readonly Readonly<Record<EntityType, readonly Stage[]>>[] = [
  { group: [['export'], ['group'], ['user_contributions', 'entities']], project: [] },
  // Projects use what groups above them have.
  {
    group: [
      ['labels', 'milestones', 'members', 'push_rule', 'iterations_cadences', 'badges', 'custom_attributes'],
      ['epics', 'boards', 'uploads', 'wiki'],
    ],
    project: [],
  },
  {
    group: [],
    project: [
      ['export'],
      ['project'],
      ['user_contributions'],
      ['repository', 'lfs_objects', 'members'],
      ['labels', 'milestones', 'feature_flag_user_lists', 'project_badges', 'custom_attributes', 'environments'],
      ['issues', 'snippets', 'boards', 'feature_flags', 'releases'],
      ['commit_notes', 'ci_pipelines', 'freeze_periods', 'snippet_repositories'],
      ['uploads', 'wiki'],
      ['protected_tags', 'push_rule'],
    ],
  },
  // What leads from one project or group to another.
  {
    group: [
      ['epic_links', 'group_links', 'approval_settings'],
      ['protected_branches', 'protected_environments'],
      ['numbers', 'webhooks_count', 'others'],
    ],
    project: [
      ['fork', 'group_links', 'issue_links'],
      // Rights may be given to groups that it is shared with.
      ['protected_branches', 'protected_environments'],
      ['approval_rules', 'deployments'],
      ['merge_requests'],
      ['numbers', 'webhooks_count', 'others'],
    ],
  },
  // What texts and records name in all of it.
  { group: [['references']], project: [['merge_request_blocks', 'references'], ['archived']] },
];

const phaseSize = 100;

/** The phase of what leads from one entity to another. */
export const connections = 3;
/** The first phase in which what a group has for those below it is here. */
export const afterContents = 2;

/** The stages of an entity, each with its number, which says the phase, too. */
export const stagesOf = (type: EntityType): { stage: number; names: Stage }[] =>
  phases.flatMap((stages, phase) => stages[type].map((names, index) => ({ stage: phase * phaseSize + index, names })));

export const asksForExport = (type: EntityType, stage: number): boolean =>
  stagesOf(type).some((each) => each.stage === stage && each.names.includes('export'));

export const phaseOf = (stage: number): number => Math.floor(stage / phaseSize);

export const firstPhase = (type: EntityType): number => phaseOf(stagesOf(type)[0]!.stage);

/** Steps without which an entity is worth nothing. */
export const isVital = (name: string): boolean => ['export', 'group', 'project', 'repository'].includes(name);

/** What a retry does with a step that has failures: goes on where it stopped, or begins anew and counts everything again. Other steps begin anew and pass over what is here. */
export const retried = {
  onward: [
    'group',
    'project',
    'entities',
    'repository',
    'wiki',
    'snippet_repositories',
    'numbers',
    'others',
    'archived',
  ],
  anew: ['export', 'user_contributions', 'members', 'uploads', 'lfs_objects', 'fork', 'webhooks_count'],
} as const;

/** The relation whose lines only hold the records. */
export const holding = 'ci_pipelines';

const camel = (name: string) => name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Steps that do more than read what is exported under their name. */
export const bringsMore: ReadonlySet<string> = new Set([
  'export',
  'group',
  'project',
  'entities',
  'members',
  'repository',
  'wiki',
  'snippet_repositories',
  'uploads',
  'numbers',
  'others',
  'references',
  'archived',
  'fork',
  'webhooks_count',
]);

/** The class that does the step in the public product, e.g. `BulkImports::Projects::Pipelines::IssuesPipeline`. */
export const pipelineClass = (type: EntityType, name: string): string =>
  `BulkImports::${type === 'group' ? 'Groups' : 'Projects'}::Pipelines::${camel(name)}Pipeline`;

const firstMinutes_s = 300;
/** How long the source may give no good answer. */
export const maximumSilence_s = 1800;

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
export const leftOut: ReadonlySet<string> = new Set(['error_tracking_setting']);
