/** The order of the steps, and their public names (docs/reference/bulk_imports.md#how-it-runs). Pure functions. */
import type { EntityType } from './definition.ts';

/**
 * The phases of a migration. The contents of a group or project start when the contents of its parent group, e.g.
 * labels, have been imported. Links between entities start when the contents of all entities have been imported; each
 * later phase starts when the one before has ended in all entities.
 */
const phases = { places: 0, group_contents: 1, project_contents: 2, connections: 3, references: 4 } as const;

/** The phase of links between entities. */
export const connections = phases.connections;
/** The first phase in which the contents of a parent group are available. */
export const afterContents = phases.project_contents;

/** A phase and the number of a stage in it. The steps of a stage run at the same time; the next stage of the entity starts when all of them have ended. */
type Turn = readonly [phase: keyof typeof phases, stage: number];

/** A step: what is copied of an entity by one job. Without further facts, it imports the relation of its name. */
interface PlannedStep {
  /** When it runs in a group; a step without a turn does not run there. */
  group?: Turn;
  /** When it runs in a project. */
  project?: Turn;
  /** Whether it does more than import the relation of its name, so that it runs even if the source has no such records. */
  doesMore?: true;
  /**
   * How a retry treats the step if it has failures: it continues where it stopped, or starts from scratch and counts
   * everything again. By default it starts from scratch and skips the records already imported.
   */
  retry?: 'onward' | 'anew';
  /** Whether every retry runs it again, with or without failures. */
  isRepeated?: true;
  /** What is useless if the step fails, and ends with it: the entity, or the new project, too. */
  vitalTo?: 'entity' | 'project';
  /** Whether the lines of its relation are mere containers of records. */
  holdsRecords?: true;
}

const planned: Readonly<Record<string, PlannedStep>> = {
  export: {
    group: ['places', 0],
    project: ['project_contents', 0],
    doesMore: true,
    retry: 'anew',
    isRepeated: true,
    vitalTo: 'entity',
  },
  group: { group: ['places', 1], doesMore: true, retry: 'onward', vitalTo: 'entity' },
  project: { project: ['project_contents', 1], doesMore: true, retry: 'onward', vitalTo: 'entity' },
  user_contributions: { group: ['places', 2], project: ['project_contents', 2], retry: 'anew' },
  entities: { group: ['places', 2], doesMore: true, retry: 'onward' },
  repository: { project: ['project_contents', 3], doesMore: true, retry: 'onward', vitalTo: 'project' },
  lfs_objects: { project: ['project_contents', 3], retry: 'anew' },
  members: { group: ['group_contents', 0], project: ['project_contents', 3], doesMore: true, retry: 'anew' },
  labels: { group: ['group_contents', 0], project: ['project_contents', 4] },
  milestones: { group: ['group_contents', 0], project: ['project_contents', 4] },
  iterations_cadences: { group: ['group_contents', 0] },
  badges: { group: ['group_contents', 0] },
  project_badges: { project: ['project_contents', 4] },
  custom_attributes: { group: ['group_contents', 0], project: ['project_contents', 4] },
  compliance_frameworks: { group: ['group_contents', 0], project: ['project_contents', 4] },
  feature_flag_user_lists: { project: ['project_contents', 4] },
  environments: { project: ['project_contents', 4] },
  epics: { group: ['group_contents', 1] },
  issues: { project: ['project_contents', 5] },
  snippets: { project: ['project_contents', 5] },
  boards: { group: ['group_contents', 1], project: ['project_contents', 5] },
  feature_flags: { project: ['project_contents', 5] },
  releases: { project: ['project_contents', 5] },
  commit_notes: { project: ['project_contents', 6] },
  ci_pipelines: { project: ['project_contents', 6], holdsRecords: true },
  freeze_periods: { project: ['project_contents', 6] },
  snippet_repositories: { project: ['project_contents', 6], doesMore: true, retry: 'onward' },
  uploads: { group: ['group_contents', 1], project: ['project_contents', 7], doesMore: true, retry: 'anew' },
  wiki: { group: ['group_contents', 1], project: ['project_contents', 7], doesMore: true, retry: 'onward' },
  protected_tags: { project: ['project_contents', 8] },
  push_rule: { group: ['group_contents', 0], project: ['project_contents', 8] },
  epic_links: { group: ['connections', 0] },
  fork: { project: ['connections', 0], doesMore: true, retry: 'anew' },
  group_links: { group: ['connections', 0], project: ['connections', 0] },
  issue_links: { project: ['connections', 0] },
  approval_settings: { group: ['connections', 0] },
  // Rules may give rights to groups that the project is shared with.
  protected_branches: { group: ['connections', 1], project: ['connections', 1] },
  protected_environments: { group: ['connections', 1], project: ['connections', 1] },
  approval_rules: { project: ['connections', 2] },
  deployments: { project: ['connections', 2] },
  merge_requests: { project: ['connections', 3] },
  numbers: { group: ['connections', 2], project: ['connections', 4], doesMore: true, retry: 'onward' },
  webhooks_count: { group: ['connections', 2], project: ['connections', 4], doesMore: true, retry: 'anew' },
  others: { group: ['connections', 2], project: ['connections', 4], doesMore: true, retry: 'onward' },
  merge_request_blocks: { project: ['references', 0] },
  // References in texts and records to anything in the whole migration.
  references: { group: ['references', 0], project: ['references', 0], doesMore: true, isRepeated: true },
  archived: { project: ['references', 1], doesMore: true, retry: 'onward' },
};

/** The names of the steps with a fact. */
const namesWith = (isMeant: (step: PlannedStep) => boolean): readonly string[] =>
  Object.keys(planned).filter((name) => isMeant(planned[name]!));

const phaseSize = 100;

const numberOf = ([phase, stage]: Turn) => phases[phase] * phaseSize + stage;

/** The steps of an entity in their order, each with the number of its stage, from which the phase follows. */
export const stepsOfType = (type: EntityType): { stage: number; name: string }[] =>
  Object.entries(planned)
    .flatMap(([name, { [type]: turn }]) => (turn ? [{ stage: numberOf(turn), name }] : []))
    .sort((one, other) => one.stage - other.stage);

export const asksForExport = (type: EntityType, stage: number): boolean =>
  stepsOfType(type).some((each) => each.stage === stage && each.name === 'export');

export const phaseOf = (stage: number): number => Math.floor(stage / phaseSize);

export const firstPhase = (type: EntityType): number => phaseOf(stepsOfType(type)[0]!.stage);

/** What is useless if the step fails. */
export const uselessWithout = (name: string): PlannedStep['vitalTo'] => planned[name]?.vitalTo;

/** The steps that a retry treats in this way if they have failures. */
export const retried = (how: NonNullable<PlannedStep['retry']>): readonly string[] =>
  namesWith(({ retry }) => retry === how);
/** The steps that every retry runs again. */
export const repeated: readonly string[] = namesWith(({ isRepeated }) => isRepeated ?? false);
/** The steps whose relations consist of containers of records. */
export const holding: readonly string[] = namesWith(({ holdsRecords }) => holdsRecords ?? false);
/** Whether a step has nothing to do if the source has no records of its relation. */
export const needsRecords = (name: string): boolean => !planned[name]?.doesMore;

const camel = (name: string) => name.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());

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
