import assert from 'node:assert/strict';
import { test } from 'node:test';
import fastify from 'fastify';
import { htmlPage, sendPage } from './notice.ts';

test('a page escapes its texts', () => {
  const evil = `<script>alert("1")</script> & 'more'`;
  const { text: html } = htmlPage({
    title: evil,
    parts: [
      evil,
      { facts: [[evil, evil]] },
      { link: evil, url: `/x?a=1&b="${evil}` },
      { button: evil, action: `/y"${evil}`, fields: { [evil]: evil } },
    ],
  });
  assert.ok(!html.includes('<script>') && !html.includes('"1"') && !html.includes("'more'"));
  assert.equal(html.match(/&lt;script&gt;alert\(&quot;1&quot;\)&lt;\/script&gt; &amp; &#39;more&#39;/g)?.length, 11);
});

test('a page is a document with one heading that loads our assets only', async () => {
  const app = fastify();
  const parts = ['Text', { button: 'Accept', action: '/-/accept', fields: { token: 'x' } }];
  app.get('/', (request, reply) =>
    sendPage({ services: { url: 'http://127.0.0.1' }, request, reply }, 410, { title: 'Invitation', parts }),
  );
  const { statusCode, headers, payload } = await app.inject('/');
  assert.equal(statusCode, 410);
  assert.equal(headers['content-type'], 'text/html; charset=utf-8');
  assert.deepEqual(
    [headers['cache-control'], headers['referrer-policy'], headers['x-robots-tag']],
    ['no-store', 'same-origin', 'noindex'],
  );
  assert.match(payload, /^<!doctype html>\n<html lang="en"/);
  assert.equal(payload.match(/<h1>/g)?.length, 1);
  assert.ok(
    payload.includes(
      '<form method="post" action="/-/accept" class="single"><input type="hidden" name="token" value="x"><button class="primary">Accept</button></form>',
    ),
  );
  assert.ok(!/\b(style|on\w+)=/.test(payload));
  assert.deepEqual(
    [...payload.matchAll(/\bsrc="([^"]*)"/g)].filter(([, address]) => !address!.startsWith('/assets/')),
    [],
  );
  assert.match(
    String(headers['content-security-policy']),
    /^default-src 'none'; .*form-action 'self'; base-uri 'none'/,
  );
});
