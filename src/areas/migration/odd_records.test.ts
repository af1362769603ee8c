import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { fullWorld } from '../../../test/support/full_project.ts';
import { oddTexts, oddValues } from '../../../test/support/odd_values.ts';
import { type Random, randomFrom, seedOfToday } from '../../../test/support/random.ts';
import { arrived, emptyPlaces, inStages, recordsOf } from '../../../test/support/relations.ts';
import { runs } from '../../../test/support/runs.ts';
import type { Arrived } from '../../relations/index.ts';
import { groupTrees, projectTrees } from './relations.ts';

type Line = Record<string, unknown>;

const odd = [...oddValues, ...oddTexts, undefined, 'x'.repeat(1_100_000), '2030-01-01', '2030-01-01T00:00:00Z'];

/** A value with another one in some place within it. */
function changed(value: unknown, random: Random): unknown {
  const isHere = typeof value !== 'object' || value === null || Object.keys(value).length === 0 || random.happens(10);
  if (isHere) return random.of(odd);
  const copy = structuredClone(value) as Line;
  const key = random.of(Object.keys(copy));
  copy[key] = changed(copy[key], random);
  return copy;
}

/** A record with a number and names of its own, so that no other one is in its way. */
const numbered = (record: Line, number: number): Line => ({
  ...record,
  ...(record.iid !== undefined && { iid: 1_000 + number }),
  ...(record.name !== undefined && { name: `${record.name} ${number}` }),
  ...(record.title !== undefined && { title: `${record.title} ${number}` }),
});

/** What was read is here, or has failed, each once. */
function assertCounted({ counts, failures }: Arrived, name: string): void {
  const failed = (relation: string) => failures.filter((failure) => failure.relation === relation).length;
  for (const [relation, { fetched, imported }] of Object.entries(counts))
    assert.equal(fetched - imported, failed(relation), `${name}: ${relation}`);
  const uncounted = failures.filter(({ relation }) => !counts[relation]);
  assert.deepEqual(uncounted, [], name);
}

const fullestOf = (records: readonly Line[]): Line =>
  records.toSorted((one, other) => JSON.stringify(other).length - JSON.stringify(one).length)[0]!;

test('records with odd values are refused one by one, and all others are imported', async () => {
  const here = await fullWorld();
  const { group, project } = await emptyPlaces(here);
  const random = randomFrom(seedOfToday());
  for (const [destination, relations] of [
    [group, groupTrees],
    [project, projectTrees],
  ] as const)
    for (const relation of inStages(destination.kind, relations)) {
      const name = `${destination.kind} ${relation.name}`;
      const records = await recordsOf(here, relation, { kind: destination.kind, id: here[destination.kind].id });
      const others = Array.from({ length: runs(40, 190) }, (_, index) =>
        changed(numbered(fullestOf(records), index), random),
      );
      const outcome = await arrived(here, relation, destination, [...records, ...others]);
      assertCounted(outcome, name);
      const { fetched, imported } = outcome.counts[relation.name]!;
      assert.equal(fetched, records.length + others.length, name);
      assert.ok(imported >= records.length, `${name}: ${JSON.stringify(outcome.failures.slice(0, 3))}`);
    }
});

test('undescribed fields are ignored, and lists have a limit', async () => {
  const here = await fullWorld();
  const { project } = await emptyPlaces(here);
  const issues = projectTrees.find(({ name }) => name === 'issues')!;
  const fullest = fullestOf(await recordsOf(here, issues, { kind: 'project', id: here.project.id }));
  const own =
    '"id":1,"project_id":1,"moved_to_id":1,"storage":"elsewhere","constructor":{"prototype":{}},"__proto__":{"state":"closed"}';
  const strange = JSON.parse(`{${own},${JSON.stringify({ ...fullest, iid: 500, state: 'opened' }).slice(1)}`);
  const many = { ...fullest, iid: 501, notes: Array(100_001).fill(null) };
  const outcome = await arrived(here, issues, project, [strange, many]);
  assertCounted(outcome, 'issues');
  assert.deepEqual(outcome.counts.issues, { fetched: 2, imported: 2 });
  const messages = outcome.failures.map(({ relation, message }) => `${relation} ${message}`);
  assert.ok(messages.includes('issues, notes are more than 100000'));
  const [copy] = (await recordsOf(here, issues, project)).filter(({ iid }) => iid === 500);
  assert.deepEqual([copy!.state, copy!.title, ({} as Line).state], ['opened', fullest.title, undefined]);
});

test('an issue of an unknown type is imported as an ordinary issue, with all its records', async () => {
  const here = await fullWorld();
  const { project } = await emptyPlaces(here);
  const issues = projectTrees.find(({ name }) => name === 'issues')!;
  const fullest = fullestOf(await recordsOf(here, issues, { kind: 'project', id: here.project.id }));
  const { issue_type: _, work_item_type: __, epic_issue: ___, ...untyped } = fullest;
  const outcome = await arrived(here, issues, project, [
    { ...untyped, iid: 600, issue_type: 'requirement' },
    { ...untyped, iid: 601, work_item_type: { base_type: 'objective' } },
    { ...untyped, iid: 602, work_item_type: { base_type: 'incident' }, health_status: 'dizzy' },
  ]);
  assert.deepEqual(outcome.counts.issues, { fetched: 3, imported: 3 });
  const { notes } = fullest as { notes: unknown[] };
  assert.ok(notes.length > 0);
  assert.deepEqual(outcome.counts['issues, notes'], { fetched: 3 * notes.length, imported: 3 * notes.length });
  assert.deepEqual(
    outcome.failures.map(({ relation, message, title }) => [relation, message, title]),
    [
      ['issues, issue_type', 'issue_type does not have a valid value', fullest.title],
      ['issues, issue_type', 'issue_type does not have a valid value', fullest.title],
      ['issues, health_status', 'health_status does not have a valid value', fullest.title],
    ],
  );
  const types = (await recordsOf(here, issues, project)).map(({ iid, issue_type }) => [iid, issue_type]);
  assert.deepEqual(types.toSorted(), [
    [600, 'issue'],
    [601, 'issue'],
    [602, 'incident'],
  ]);
});

test('a comment marked internal by either field of a source is internal here, whatever its target', async () => {
  const here = await fullWorld();
  const { group, project } = await emptyPlaces(here);
  const names = [
    { internal: true },
    { confidential: true },
    { internal: true, confidential: false },
    { internal: false },
    {},
  ];
  const written = { created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z', author_id: 1 };
  const places: string[] = [];
  for (const [destination, relations] of [
    [group, groupTrees],
    [project, projectTrees],
  ] as const)
    for (const relation of relations) {
      const isOfNotes = relation.kind.table === 'notes';
      if (!isOfNotes && !('notes' in relation.kind.members)) continue;
      const place = `Said of ${destination.kind} ${relation.name}`;
      const notes = names.map((each, index) => ({ ...written, ...each, note: `${place} ${index}` }));
      const [first] = await recordsOf(here, relation, { kind: destination.kind, id: here[destination.kind].id });
      const { commit_id } = first!;
      const outcome = await arrived(
        here,
        relation,
        destination,
        isOfNotes ? notes.map((note) => ({ ...note, commit_id })) : [{ ...first, approval_rules: [], notes }],
      );
      assert.deepEqual(outcome.failures, [], place);
      const { rows } = await sql<{ internal: boolean }>`
        select internal from notes where body like ${`${place} _`} order by body`.execute(here.db);
      assert.deepEqual(
        rows.map(({ internal }) => internal),
        [true, true, true, false, false],
        place,
      );
      places.push(relation.name);
    }
  assert.deepEqual(places, ['epics', 'issues', 'merge_requests', 'snippets', 'commit_notes']);
});
