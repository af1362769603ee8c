import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import PostalMime from 'postal-mime';
import { mailbox } from '../../test/support/mail.ts';
import { type Mail, mailerFor, renderMessage, tryMailServer } from './index.ts';

const from = { name: 'Coppice', address: 'forge@coppice.test' };

async function folderFor(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-mail-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return path.join(folder, 'mail');
}

const letter = (more: Partial<Mail> = {}): Mail => ({
  to: { name: 'Ada Lovelace', address: 'ada@example.com' },
  id: 'letter-1',
  subject: 'Ærlige æbler & pears',
  paragraphs: [
    'First line\nsecond line with <b>markup</b>.',
    {
      facts: [
        ['Group', 'Orchard & <i>Co</i>'],
        ['Role', 'Developer'],
      ],
    },
    { link: 'Open it', url: 'https://coppice.test/-/invites/x?a=1&b="2"' },
  ],
  ...more,
});

/** What a person reads in a browser, without what marks it up. */
const readable = (html: string) =>
  html
    .replace(/<title>.*?<\/title>/, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');

test('a mail arrives as one message to one address, with the same facts as text and as HTML', async (t) => {
  const { url, received } = await mailbox(t);
  await mailerFor({ smtpUrl: url, from, folder: '/nonexistent' }).send(letter());
  assert.equal(received.length, 1);
  const [mail] = received;
  assert.deepEqual(mail!.recipients, ['ada@example.com']);
  assert.deepEqual(mail!.to, [{ name: 'Ada Lovelace', address: 'ada@example.com' }]);
  assert.deepEqual(mail!.from, from);
  assert.equal(mail!.subject, 'Ærlige æbler & pears');
  assert.equal(mail!.messageId, '<letter-1@coppice.test>');
  assert.equal(mail!.headers.find(({ key }) => key === 'auto-submitted')?.value, 'auto-generated');
  assert.deepEqual([mail!.attachments, mail!.cc, mail!.bcc], [[], undefined, undefined]);

  const [text, html] = [mail!.text!, mail!.html!];
  for (const fact of ['First line', 'second line with <b>markup</b>.', 'Orchard & <i>Co</i>', 'Developer', 'Open it']) {
    assert.ok(text.includes(fact), fact);
    assert.ok(readable(html).includes(fact), fact);
  }
  assert.ok(text.includes('https://coppice.test/-/invites/x?a=1&b="2"'));
  assert.ok(html.includes('href="https://coppice.test/-/invites/x?a=1&amp;b=&quot;2&quot;"'));
  assert.ok(!html.includes('<b>') && !html.includes('<i>'));
});

test('no text can add a header, a recipient or a fact', async (t) => {
  const { url, received } = await mailbox(t);
  const mailer = mailerFor({ smtpUrl: url, from, folder: '/nonexistent' });
  const evil = 'x\r\nBcc: eve@example.com\r\n\r\nHello';
  await mailer.send(letter({ subject: evil, to: { name: evil, address: 'ada@example.com' } }));
  await mailer.send(letter({ to: { address: 'ada@example.com, eve@example.com' } })).catch(() => {});
  await mailer.send(letter({ paragraphs: [{ facts: [['Group', 'Orchard\nRole: Owner']] }] }));
  for (const { recipients, headers } of received) {
    assert.ok(!recipients.includes('eve@example.com'));
    assert.ok(!headers.some(({ key }) => key === 'bcc'));
  }
  assert.equal(received[0]!.subject, 'x Bcc: eve@example.com Hello');
  assert.equal(received.at(-1)!.text!.trim(), 'Group: Orchard Role: Owner');
  assert.ok(renderMessage(letter()).text.endsWith('\n'));
});

test('a mail that the server refuses is an error, and the next one can be sent', async (t) => {
  const refusals = [550, 451];
  const { url, received } = await mailbox(t, {
    onRcptTo: (_address, _session, done) => {
      const responseCode = refusals.shift();
      done(responseCode === undefined ? undefined : Object.assign(new Error('not now'), { responseCode }));
    },
  });
  const mailer = mailerFor({ smtpUrl: url, from, folder: '/nonexistent' });
  await assert.rejects(mailer.send(letter()), /not now/);
  await assert.rejects(mailer.send(letter()), /not now/);
  await mailer.send(letter());
  assert.equal(received.length, 1);
  const nowhere = mailerFor({ smtpUrl: 'smtp://127.0.0.1:1', from, folder: '/nonexistent' });
  await assert.rejects(nowhere.send(letter()), /ECONNREFUSED/);
  await assert.rejects(tryMailServer('smtp://127.0.0.1:1'), /ECONNREFUSED/);
});

test('several mails can be sent concurrently', async (t) => {
  const arrived = Promise.withResolvers<void>();
  let waiting = 0;
  const { url, received } = await mailbox(t, {
    // No connection is accepted before all have arrived.
    onMailFrom: (_address, _session, done) => {
      waiting += 1;
      if (waiting === 4) arrived.resolve();
      arrived.promise.then(() => done());
    },
  });
  const mailer = mailerFor({ smtpUrl: url, from, folder: '/nonexistent' });
  await Promise.all([1, 2, 3, 4].map((number) => mailer.send(letter({ id: `letter-${number}` }))));
  const ids = received.map(({ messageId }) => messageId);
  assert.deepEqual(
    ids.sort(),
    [1, 2, 3, 4].map((number) => `<letter-${number}@coppice.test>`),
  );
});

test('mail is sent over smtps with a name and password, and an untrusted certificate is refused', async (t) => {
  const seen: unknown[] = [];
  const { port, received } = await mailbox(t, {
    secure: true,
    authOptional: false,
    onAuth: ({ username, password }, _session, done) => {
      seen.push(username, password);
      done(null, { user: username });
    },
  });
  const address = `smtps://forge%40example.com:p%3Ass@127.0.0.1:${port}`;
  await assert.rejects(mailerFor({ smtpUrl: address, from, folder: '/nonexistent' }).send(letter()), /certificate/);
  assert.deepEqual(seen, []);
  await mailerFor({ smtpUrl: `${address}?tls.rejectUnauthorized=false`, from, folder: '/nonexistent' }).send(letter());
  assert.deepEqual(seen, ['forge@example.com', 'p:ss']);
  await tryMailServer(`${address}?tls.rejectUnauthorized=false`);
  assert.equal(seen.length, 4);
  assert.equal(received.length, 1);
});

test('without a server, mail is stored in files that only their owner can read', async (t) => {
  const folder = await folderFor(t);
  const mailer = mailerFor({ smtpUrl: undefined, from, folder });
  await mailer.send(letter());
  await mailer.send(letter({ id: 'letter-2', to: { address: 'grace@example.com' } }));
  const names = (await readdir(folder)).sort();
  assert.equal(names.length, 2);
  for (const name of names) {
    assert.match(name, /\.eml$/);
    assert.equal((await stat(path.join(folder, name))).mode & 0o777, 0o600);
  }
  const mails = await Promise.all(names.map(async (name) => PostalMime.parse(await readFile(path.join(folder, name)))));
  mails.sort((one, other) => one.messageId!.localeCompare(other.messageId!));
  assert.deepEqual(
    mails.map(({ to, messageId, subject }) => ({ to: to![0]!.address, messageId, subject })),
    [
      { to: 'ada@example.com', messageId: '<letter-1@coppice.test>', subject: 'Ærlige æbler & pears' },
      { to: 'grace@example.com', messageId: '<letter-2@coppice.test>', subject: 'Ærlige æbler & pears' },
    ],
  );
  assert.ok(mails[0]!.text!.includes('Orchard & <i>Co</i>'));
});

test('a process that sends no mail does not load the mail client', async (t) => {
  const folder = await folderFor(t);
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => { loaded.push(url); return next(url, context); } });
    const hasRead = () => loaded.some((url) => url.includes('/nodemailer/'));
    const { mailerFor } = await import(${JSON.stringify(import.meta.resolve('./index.ts'))});
    const mailer = mailerFor({ smtpUrl: undefined, from: { name: 'A', address: 'a@b.c' }, folder: ${JSON.stringify(folder)} });
    const before = hasRead();
    await mailer.send({ to: 'd@e.f', id: '1', subject: 's', paragraphs: [] });
    console.log(before, hasRead());`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', script]);
  assert.equal(stdout, 'false true\n');
});
