/** The attributes of a group or project at the source: over REST, and from the relation `self`. */
import { createReadStream } from 'node:fs';
import { lesserVisibility, type VisibilityName } from '../../../../access/index.ts';
import { linesOf, readJson } from '../../../../archives/index.ts';
import { Refusal, time } from '../../../../relations/index.ts';
import { allowedVisibility, settingsOf } from '../../../instance/application_settings/index.ts';
import type { Outcome, StepCall } from '../step_definition.ts';
import { type Exported, exportedFile, exportOf, isExport, unpackedLimit } from './export_queries.ts';
import { ask, isRecord, pathAtSource, SourceFailure } from './queries.ts';

export type Self = Record<string, unknown>;

const isOutcome = (given: Self | Outcome): given is Outcome => typeof given === 'string' || 'wait_s' in given;

/** Runs `make` with the attributes of an entity, once `self` has been exported. */
export async function withSelf(call: StepCall, make: (self: Self) => Promise<void>): Promise<Outcome> {
  const self = await selfOf(call);
  if (isOutcome(self)) return self;
  await make(self);
  return 'finished';
}

/** @throws Unanswered, SourceFailure, InvalidContent, LimitExceeded */
async function selfOf(call: StepCall): Promise<Self | Outcome> {
  const exported = await exportOf(call, 'self');
  if (!isExport(exported) && exported !== 'skipped') return exported;
  const { value } = await ask(call.source, pathAtSource(call.entity), { with_projects: false });
  if (!isRecord(value)) throw new SourceFailure('InvalidContent', 'The source did not answer with an object.');
  if (!isExport(exported)) return value;
  return { ...value, ...(await objectIn(call, 'self', exported)) };
}

/**
 * The single object that makes up a relation.
 * @throws Unanswered, SourceFailure, InvalidContent, LimitExceeded
 */
export async function objectIn(call: StepCall, relation: string, exported: Exported): Promise<Self> {
  const file = await exportedFile(call, relation, exported, 1);
  for await (const { bytes } of linesOf(createReadStream(file), { most_bytes: await unpackedLimit(call) })) {
    const value = bytes && (await readJson(bytes, call.migration.user_id));
    if (isRecord(value)) return value;
    break;
  }
  throw new SourceFailure('InvalidContent', `The relation \`${relation}\` is no JSON object.`);
}

const visibilities: Readonly<Record<string, VisibilityName>> = { 0: 'private', 10: 'internal', 20: 'public' };

/** The lowest of three visibilities: at the source, of the destination namespace, and permitted by the settings. */
export async function visibilityFor(
  { db }: StepCall,
  self: Self,
  place: VisibilityName | undefined,
): Promise<VisibilityName> {
  const { visibility_level, visibility } = self;
  const named = Object.values(visibilities).find((name) => name === visibility);
  const wanted = visibilities[String(visibility_level)] ?? named ?? 'private';
  const { restricted_visibility_levels } = await settingsOf(db);
  return allowedVisibility(place ? lesserVisibility(wanted, place) : wanted, restricted_visibility_levels);
}

/** A text from the source, without characters that PostgreSQL cannot store, cut to a length. */
export const textIn = (self: Self, name: string, longest: number): string | undefined => {
  const value = self[name];
  return typeof value === 'string' ? value.replaceAll('\0', '').toWellFormed().slice(0, longest) : undefined;
};

export const flagIn = (self: Self, name: string): boolean | undefined =>
  typeof self[name] === 'boolean' ? self[name] : undefined;

/** A time column from the source, if the source has the value. */
export function timeIn<Name extends string>(self: Self, name: Name): { [name in Name]?: string } {
  try {
    return { [name]: time.arrives(self[name]) as string } as { [name in Name]?: string };
  } catch (error) {
    if (error instanceof Refusal) return {};
    throw error;
  }
}

/** The `created_at` column from the source, if the source has the value. */
export const creationIn = (self: Self): { created_at?: string } => timeIn(self, 'created_at');
