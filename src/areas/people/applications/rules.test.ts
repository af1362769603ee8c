import assert from 'node:assert/strict';
import { test } from 'node:test';
import { redirectReasons, scopeReasons, scopesIn } from './rules.ts';

test('scopes are names between blanks', () => {
  assert.deepEqual(scopesIn(' api  openid\napi '), ['api', 'openid']);
  assert.deepEqual(scopeReasons('api read_user openid'), []);
  for (const text of ['api everything', 'API', 'create_runner'])
    assert.deepEqual(scopeReasons(text), ["doesn't match configured on the server."], text);
});

test('addresses are absolute, without a fragment, and nothing that a browser runs', () => {
  const cases: [string, string[], string[]?][] = [
    ['https://app.example.com/callback', []],
    ['https://app.example.com/callback?a=b\r\nhttp://localhost:7171/auth\n', []],
    ['com.example.app:/callback', ['is forbidden by the server.'], []],
    ['/callback', ['must be an absolute URI.']],
    ['app.example.com/callback', ['must be an absolute URI.']],
    ['https://', ['must be a valid URI.']],
    ['https:app.example.com', ['must be a valid URI.']],
    ['https:/app.example.com/x', ['must be a valid URI.']],
    ['https:\\\\app.example.com', ['must be a valid URI.']],
    ['https://app.example.com\\@evil.example.com', ['must be a valid URI.']],
    ['https://app.example.com;sandbox/', ['must be a valid URI.']],
    ['https://app.example.com,evil.example.com/', ['must be a valid URI.']],
    ['http://[::1]:8080/callback', []],
    ['https://me@app.example.com/', ['must be a valid URI.']],
    ['https://app.example.com/ä', ['must be a valid URI.']],
    ['https://app.example.com:99999/', ['must be a valid URI.']],
    ['https://app.example.com/callback#', ['cannot contain a fragment.']],
    ['javascript:alert(1)', ['is forbidden by the server.']],
    ['JavaScript:alert(1)', ['is forbidden by the server.']],
    ['data:text/html,x', ['is forbidden by the server.']],
    ['vbscript:x', ['is forbidden by the server.']],
    ['file:///etc/passwd', ['is forbidden by the server.']],
    [' \n ', ["can't be blank"]],
    ['https://a.example.com\n/b\nc', ['must be an absolute URI.']],
    ['https://a.example.com\n'.repeat(51), ['has more than 50 lines']],
    [`https://a.example.com/${'a'.repeat(2000)}`, ['is too long']],
  ];
  for (const [text, confidential, open = confidential] of cases) {
    assert.deepEqual(redirectReasons(text, true), confidential, text);
    assert.deepEqual(redirectReasons(text, false), open, text);
  }
});
