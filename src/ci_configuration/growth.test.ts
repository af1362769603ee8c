// Runs in a process of its own: it measures processor time.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growsTooFast, hostileUnits } from '../../test/support/growth.ts';
import { someOf } from '../../test/support/runs.ts';
import { readEntries } from './entries.ts';
import { extended } from './extending.ts';
import { withInputs } from './inputs.ts';
import { multiplied } from './parallel.ts';
import { resolved } from './references.ts';
import { checkRelations } from './relations.ts';
import { Invalid, isMapping } from './values.ts';
import { readYaml } from './yaml.ts';

/** All steps that take time of their own. */
function compileText(text: string): void {
  try {
    const content = withInputs(readYaml(text), new Map(), new Map([['A', { key: 'A', value: 'a' }]]));
    if (!isMapping(content)) return;
    const { jobs, stages } = readEntries(resolved(extended(content)), new Set(), { errors: [], warnings: [] });
    const all = multiplied(jobs);
    checkRelations(all, stages);
  } catch (error) {
    if (!(error instanceof Invalid)) throw error;
  }
}

/** Where a repeated unit is put. */
type Place = (hostile: string) => string;

const starts = ['', 'a: ', '- ', 'a: "', "a: '", 'a: |\n ', 'a: >\n ', 'a: [', 'a: {', '&', 'a: *', 'a: !'];
/** Keywords whose texts are looked at closely. */
const keywords = [
  'HERE: 1',
  'script: HERE',
  'stage: HERE',
  'timeout: HERE',
  'environment: HERE',
  'environment: {name: e, auto_stop_in: HERE}',
  'resource_group: HERE',
  'coverage: HERE',
  'only: [HERE]',
  'rules: [{if: HERE}]',
  'rules: [{changes: [HERE]}]',
  'variables: {HERE: 1}',
  'cache: {key: HERE, policy: HERE}',
  'artifacts: {expose_as: HERE, paths: [a]}',
  'release: {tag_name: HERE, description: d, released_at: HERE}',
  'trigger: {include: HERE}',
  'needs: [HERE]',
];

const places: Place[] = [
  ...starts.map(
    (start): Place =>
      (text) =>
        start + text,
  ),
  ...keywords.map(
    (line): Place =>
      (text) =>
        `job:\n  script: a\n  ${line.replaceAll('HERE', JSON.stringify(text))}`,
  ),
  (text) => `spec: {inputs: {a: {default: x}}}\n---\njob: {script: ${JSON.stringify(`$[[${text}`)}}`,
  (text) => `spec: {inputs: {a: {default: x}}}\n---\njob: {script: ${JSON.stringify(`$[[ inputs.a | ${text} ]]`)}}`,
  (text) => `spec: {inputs: {a: {default: ${JSON.stringify(text)}, regex: a}}}\n---\njob: {script: a}`,
];

test('twice the text takes no more than about twice the time', () => {
  const found = places.flatMap((place, index) =>
    someOf([...hostileUnits, '$[[', '$[[ inputs.a ]]', '&a ', '*a ', '<<: '], index)
      .filter((unit) => growsTooFast((count) => compileText(place(unit.repeat(count)))))
      .map((unit) => place(`<${unit} repeated>`)),
  );
  assert.deepEqual(found, []);
});
