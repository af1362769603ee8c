/** The limit of an upload: a bare handler that streams the file of a multipart body to a folder, and waits until it is on the disk. */
import { createWriteStream } from 'node:fs';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Busboy } from '@fastify/busboy';
import Fastify from 'fastify';

const [folder] = process.argv.slice(2);
let count = 0;

const app = Fastify({ bodyLimit: 2 ** 30 });
app.addContentTypeParser('multipart/form-data', (_request, _payload, done) => done(null));
app.post('/', async ({ raw }) => {
  const parser = new Busboy({ headers: raw.headers as { 'content-type': string } });
  const files: Promise<void>[] = [];
  parser.on('file', (_name, file) => {
    files.push(pipeline(file, createWriteStream(path.join(folder!, `upload-${++count}`), { flush: true })));
  });
  await pipeline(raw, parser);
  await Promise.all(files);
  return {};
});
console.log(await app.listen({ port: 0, host: '127.0.0.1' }));
