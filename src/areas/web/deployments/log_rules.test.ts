import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type LogLine, logParts } from './log_rules.ts';

const textOf = ({ pieces }: LogLine) => pieces.map(({ text }) => text).join('');
const linesOf = (text: string) => logParts(text).map((part) => ('lines' in part ? part.name : textOf(part)));

test('colours and weight last until they are reset, also over lines', () => {
  const [first, second] = logParts('\x1b[32;1mgood\nstill\x1b[0m plain\n') as LogLine[];
  assert.deepEqual(first!.pieces, [{ text: 'good', colour: 'green', bold: true }]);
  assert.deepEqual(second!.pieces, [{ text: 'still', colour: 'green', bold: true }, { text: ' plain' }]);
});

test('other control sequences are left out, and markup stays text', () => {
  assert.deepEqual(linesOf('a\x1b[2Kb\x07\x1b[?25lc\n<b>&'), ['abc', '<b>&']);
});

test('of a line that was written over, the last text is shown', () => {
  assert.deepEqual(linesOf('10 %\r50 %\r100 %\r\nnext\r\n'), ['100 %', 'next']);
});

test('lines are in the sections that the runner marks', () => {
  const text = [
    'before',
    'section_start:100:prepare[collapsed=true]\r\x1b[0KPreparing',
    'inside',
    'section_end:103:prepare\r\x1b[0Ksection_start:103:script\r\x1b[0KRunning',
    'section_start:104:inner\r\x1b[0KInner',
    'section_end:105:inner\r\x1b[0K',
    'after',
  ].join('\n');
  const [before, prepare, script] = logParts(text);
  assert.equal(textOf(before as LogLine), 'before');
  assert.ok(prepare && 'lines' in prepare && script && 'lines' in script);
  assert.deepEqual(
    [prepare.name, textOf(prepare.heading), prepare.collapsed, prepare.seconds, prepare.lines.map(textOf)],
    ['prepare', 'Preparing', true, 3, ['inside']],
  );
  assert.deepEqual(
    [script.name, script.collapsed, script.seconds, script.lines.map(textOf)],
    ['script', false, undefined, ['Inner', 'after']],
  );
});
