/** Compressed files that another system made: their lines, their JSON and the entries of archives, within limits. */
export type { Json } from './bounded_json.ts';
export { InvalidContent, LimitExceeded } from './errors.ts';
export { type Line, linesOf } from './lines.ts';
export { readJson } from './reading_json.ts';
export { type TarEntry, tarEntries } from './tar.ts';
export { unpacked } from './unpacking.ts';
export { isInside, type RandomAccess, type ZipEntry, zipContent, zipEntries } from './zip.ts';
