import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Type } from 'typebox';
import { Address, forPrograms, Id, Markdown, nullable } from '../../../http/index.ts';
import { html } from '../../../pages/index.ts';
import { Epic } from '../../work/epics/present.ts';
import { factsOf } from './present.ts';

const shown = async (value: object, schema: Parameters<typeof factsOf>[1]) =>
  String(
    html`${await factsOf(value, schema, { url: 'https://git.example', markdown: async (text) => html`<b>${text}</b>` })}`,
  );

test('the schema says what is Markdown, what is a link, and what is left out', async () => {
  const schema = Type.Object({
    id: Id,
    parent_id: nullable(Id),
    description: Type.String(),
    details: nullable(Markdown()),
    pages: Type.Array(Address()),
    _links: forPrograms(Type.Object({ self: Type.String() })),
  });
  const [description, page] = ['*not* marked up', 'https://elsewhere.example/a'];
  const value = { id: 71, parent_id: 72, description, details: '*marked*', pages: [page], _links: { self: 'self' } };
  const text = await shown(value, schema);
  assert.match(text, /\*not\* marked up/);
  assert.match(text, /<b>\*marked\*<\/b>/);
  assert.match(text, /<a href="https:\/\/elsewhere\.example\/a"/);
  assert.doesNotMatch(text, /71|72|self/);
});

test('replies keep what their fields say about it', async () => {
  const text = await shown({ id: 71, iid: 3, description: 'Plant', references: { full: 'g&3' } }, Epic);
  assert.match(text, /<b>Plant<\/b>/);
  assert.doesNotMatch(text, /71|g&amp;3|>3</);
});
