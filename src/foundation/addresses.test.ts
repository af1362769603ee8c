import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pagePath } from './addresses.ts';

test('the path of a page escapes names, and their slashes stay', () => {
  const page = pagePath('/:project/-/blob/:ref/:path');
  assert.equal(page.pattern, '/:project/-/blob/:ref/:path');
  assert.equal(
    page('orchard/apples', 'fix#1/50%', 'docs/Äpfel & Birnen?.md'),
    '/orchard/apples/-/blob/fix%231/50%25/docs/%C3%84pfel%20%26%20Birnen%3F.md',
  );
  assert.equal(pagePath('/:project/-/errors/:id/details')('orchard/apples', 7), '/orchard/apples/-/errors/7/details');
});

test('no link to a page of a project or group is put together by hand', () => {
  const src = path.resolve(import.meta.dirname, '..');
  const files = globSync('**/*.ts', { cwd: src, exclude: (name) => name.endsWith('.test.ts') });
  const wrong = files.filter((file) => readFileSync(path.join(src, file), 'utf8').includes('}/-/'));
  // It rewrites addresses in texts of another server.
  assert.deepEqual(wrong, ['areas/migration/bulk_imports/steps/text_rules.ts']);
});
