/** The order of the steps, and their public names (docs/reference/bulk_imports.md#how-it-runs). Pure functions. */
import type { EntityType } from './definition.ts';

/** Steps that run at the same time. The next stage of an entity starts when all of them have ended. */
type Stage = readonly string[];

/**
 * The stages of entities, in phases. The contents of a group or project start when the contents of its parent group,
 * e.g. labels, have been imported. Links between entities start when the contents of all entities have been imported;
 * each later phase starts when the one before has ended in all entities.
 */
const phases: readonly Readonly<Record<EntityType, readonly Stage[]>>[] = [
  { group: [['export'], ['group'], ['user_contributions', 'entities']], project: [] },
  // Projects use labels and other records of their parent groups.
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
  // Links from one project or group to another.
  {
    group: [
      ['epic_links', 'group_links', 'approval_settings'],
      ['protected_branches', 'protected_environments'],
      ['numbers', 'webhooks_count', 'others'],
    ],
    project: [
      ['fork', 'group_links', 'issue_links'],
      // Rules may give rights to groups that the project is shared with.
      ['protected_branches', 'protected_environments'],
      ['approval_rules', 'deployments'],
      ['merge_requests'],
      ['numbers', 'webhooks_count', 'others'],
    ],
  },
  // References in texts and records to anything in the whole migration.
  { group: [['references']], project: [['merge_request_blocks', 'references'], ['archived']] },
];

const phaseSize = 100;

/** The phase of links between entities. */
export const connections = 3;
/** The first phase in which the contents of a parent group are available. */
export const afterContents = 2;

/** The stages of an entity, each with its number, from which the phase follows. */
export const stagesOf = (type: EntityType): { stage: number; names: Stage }[] =>
  phases.flatMap((stages, phase) => stages[type].map((names, index) => ({ stage: phase * phaseSize + index, names })));

export const asksForExport = (type: EntityType, stage: number): boolean =>
  stagesOf(type).some((each) => each.stage === stage && each.names.includes('export'));

export const phaseOf = (stage: number): number => Math.floor(stage / phaseSize);

export const firstPhase = (type: EntityType): number => phaseOf(stagesOf(type)[0]!.stage);

/** Steps without which an entity is useless. */
export const isVital = (name: string): boolean => ['export', 'group', 'project', 'repository'].includes(name);

/**
 * What a retry does with a step that has failures: it continues where it stopped, or starts from scratch and counts
 * everything again. All other steps start from scratch and skip records already imported.
 */
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

/** The relation whose own lines are mere containers of records. */
export const holding = 'ci_pipelines';

const camel = (name: string) => name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

/** Steps that do more than import the relation of their name. */
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

/** The class that performs the step in the public product, e.g. `BulkImports::Projects::Pipelines::IssuesPipeline`. */
export const pipelineClass = (type: EntityType, name: string): string =>
  `BulkImports::${type === 'group' ? 'Groups' : 'Projects'}::Pipelines::${camel(name)}Pipeline`;

const firstMinutes_s = 300;
/** How long the source may go without a valid response. */
export const maximumSilence_s = 1800;

/**
 * Seconds until the next request to the source.
 * @param tries how many times in a row it gave no valid response, from 1
 * @param silence_s seconds since the last valid one
 */
export const pauseAfter = (tries: number, silence_s: number): number =>
  silence_s >= firstMinutes_s ? 60 : Math.min(2 ** (tries - 1), 10);

/** Relations whose content is also part of `self`. */
export const carriedBySelf: readonly string[] = ['self', 'project_feature', 'namespace_settings'];

/** Relations that are deliberately not imported, and only counted. */
export const leftOut: ReadonlySet<string> = new Set(['error_tracking_setting']);
