/** The exports of an entity at the source: requesting them, their states, and their files. */
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Database } from '../../../../db/index.ts';
import { settingsOf } from '../../../instance/application_settings/index.ts';
import { endEmptySteps } from '../empty_actions.ts';
import { inStep } from '../journal_actions.ts';
import type { Outcome, Step, StepCall } from '../step_definition.ts';
import { ask, fetchFile, isRecord, order, pathAtSource, SourceFailure, Unanswered } from './queries.ts';

/** A completed export. */
export interface Exported {
  is_batched: boolean;
  /**
   * The numbers of the batches, each with the error if it cannot be downloaded. An export without batches has one, with
   * the number 1.
   */
  batches: { number: number; error: string | undefined }[];
  /** The number of records that the source reports. */
  total: number;
}

/** From this version on, relations are exported in batches. */
function hasBatches(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return major > 16 || (major === 16 && minor >= 2);
}

/** Requests the exports of an entity from the source. A repeated request joins the running exports. */
export const exportStep: Step = {
  name: 'export',
  async run({ source, entity, migration, db }) {
    if (migration.source_user_id === null) {
      const { value } = await ask(source, '/user');
      const source_user_id = isRecord(value) ? whole(value.id) : 0;
      await db.updateTable('bulk_imports').set({ source_user_id }).where('id', '=', migration.id).execute();
    }
    await order(
      source,
      `${pathAtSource(entity)}/export_relations`,
      hasBatches(migration.source_version) ? { batched: true } : {},
    );
    return 'finished';
  },
};

const emptyList_ms = 5 * 60_000;
const maximumPause_s = 15;

const whole = (value: unknown): number =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : 0;
const maximumBatches = 1_000_000;

/** All exports that the source lists. */
export async function exportsOf({ source, entity }: StepCall): Promise<Record<string, unknown>[]> {
  const { value } = await ask(source, `${pathAtSource(entity)}/export_relations/status`);
  return ([value].flat() as unknown[]).filter(isRecord);
}

/** The source looks for a waiting job only every two seconds, and most exports take less. */
const pauses_ms = [50, 100, 200, 400, 800];

/**
 * The export of a relation, once it has ended.
 * @returns how long to wait, or that the source does not have it
 * @throws Unanswered, SourceFailure
 */
export async function exportOf(call: StepCall, relation: string): Promise<Exported | Outcome> {
  for (const pause_ms of pauses_ms) {
    const found = await exportNow(call, relation);
    if (isExport(found) || typeof found !== 'object') return found;
    await setTimeout(pause_ms, undefined, { signal: call.signal });
  }
  return exportNow(call, relation);
}

async function exportNow(call: StepCall, relation: string): Promise<Exported | Outcome> {
  const all = await exportsOf(call);
  await endEmptySteps(call, all);
  const waited_ms = Date.now() - Date.parse(call.step.started_at!);
  const pause = { wait_s: Math.min(1 + Math.floor(waited_ms / 5000), maximumPause_s) };
  const found = all.find((each) => each.relation === relation);
  if (!found) {
    const areEnded = all.length > 0 && all.every(({ status }) => status !== 0);
    if (areEnded) return 'skipped';
    if (all.length > 0 || waited_ms < emptyList_ms) return pause;
    throw new SourceFailure('NotExported', 'The source has exported nothing.');
  }
  if (found.status === 0) return pause;
  if (found.status !== 1) throw new SourceFailure('ExportFailed', failedText(found.error));
  const total = whole(found.total_objects_count);
  if (found.batched !== true) return { is_batched: false, batches: [{ number: 1, error: undefined }], total };
  const states = new Map(
    (Array.isArray(found.batches) ? found.batches : []).filter(isRecord).map((each) => [each.batch_number, each]),
  );
  const count = Math.min(whole(found.batches_count), maximumBatches);
  const batches = Array.from({ length: count }, (_, index) => {
    const state = states.get(index + 1);
    return { number: index + 1, error: state?.status === -1 ? failedText(state.error) : undefined };
  });
  return { is_batched: true, batches, total };
}

/** The source's error message for a failed export, without file paths, which importers must not see. */
const failedText = (error: unknown) =>
  typeof error === 'string' && error !== ''
    ? `The source could not export it: ${error.replaceAll(filePath, '…')}`
    : 'The source could not export it.';

/** A file path as it appears in errors of the operating system. */
const filePath = /(?<![\w/:.])(?:[A-Za-z]:[\\/]|\/)[^\s'"`,;()]+/g;

export const isExport = (given: Exported | Outcome): given is Exported =>
  typeof given === 'object' && 'batches' in given;

/** The files of a step. */
const prefixOf = (step_id: number) => `${step_id}-`;

/** Zero means no limit. */
const limitOf = (setting: number) => (setting === 0 ? Number.POSITIVE_INFINITY : setting * 1024 * 1024);

/** The maximum size in bytes of an archive's uncompressed content. */
export const unpackedLimit = async ({ db }: StepCall): Promise<number> =>
  limitOf((await settingsOf(db)).max_decompressed_archive_size);

/** The maximum size in bytes of one file or repository from the source. */
export const downloadLimit = async ({ db }: StepCall): Promise<number> =>
  limitOf((await settingsOf(db)).bulk_import_max_download_file_size);

/**
 * Returns the file of an exported relation, and downloads it first if necessary.
 * @param batch its number in a batched export
 * @returns the path
 * @throws Unanswered, SourceFailure
 */
export async function exportedFile(
  call: StepCall,
  relation: string,
  { is_batched }: Exported,
  batch: number,
): Promise<string> {
  const { downloads, step, source, entity, db } = call;
  const file = fileOf(call, `${relation}-${batch}`);
  if (await isThere(file)) return file;
  await mkdir(downloads, { recursive: true, mode: 0o700 });
  const most_bytes = await downloadLimit(call);
  const part = `${file}.part`;
  const before_bytes = await sizeOf(part);
  // Not progress yet: a source may start each response and break it off.
  const onEtag = (etag: string | undefined) =>
    inStep(db, step.id, (tx) => setStep(tx, step.id, { etag: etag ?? null }));
  const current = await db
    .selectFrom('bulk_import_relations')
    .select('etag')
    .where('id', '=', step.id)
    .executeTakeFirst();
  try {
    await fetchFile(
      source,
      `${pathAtSource(entity)}/export_relations/download`,
      { relation, ...(is_batched ? { batched: true, batch_number: batch } : {}) },
      { file: part, etag: current?.etag ?? undefined, most_bytes, onEtag },
    );
  } catch (error) {
    if (error instanceof Unanswered && (await sizeOf(part)) > before_bytes)
      await setStep(db, step.id, { silent_since: null });
    throw error;
  }
  await rename(part, file);
  return file;
}

async function setStep(
  tx: Database,
  id: number,
  columns: { etag: string | null } | { silent_since: null },
): Promise<void> {
  await tx.updateTable('bulk_import_relations').set(columns).where('id', '=', id).execute();
}

const sizeOf = (file: string) =>
  stat(file).then(
    ({ size }) => size,
    () => 0,
  );

const isThere = (file: string) =>
  stat(file).then(
    () => true,
    () => false,
  );

/** The path of a step's file, which is removed when the step ends. */
export const fileOf = ({ downloads, step }: StepCall, name: string): string =>
  path.join(downloads, `${prefixOf(step.id)}${name}`);

/** Removes the files of a step. */
export async function removeFiles(downloads: string, step_id: number): Promise<void> {
  const files = await readdir(downloads).catch(() => []);
  for (const file of files)
    if (file.startsWith(prefixOf(step_id))) await rm(path.join(downloads, file), { recursive: true, force: true });
}

/** The steps that have files. */
export async function stepsWithFiles(downloads: string): Promise<number[]> {
  const files = await readdir(downloads).catch(() => []);
  return [...new Set(files.map((file) => Number.parseInt(file, 10)).filter(Number.isSafeInteger))];
}
