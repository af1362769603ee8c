/** Names of files that people give and clients must get through: each has to be encoded into one segment of a URL. */
export const oddPaths = [
  'with spaces/in every part.txt',
  '.hidden.file.tar.gz',
  'three...dots/..not-up/x.y.z',
  'grüße/日本語/файл.md',
  '100%.txt',
  'looks%2Fencoded%20twice.txt',
  'c++/a+b.cc',
  'query?x=1&y=[2]#fragment',
  `quotes "double" and 'single';colon:comma,`,
  'deep/deeper/deepest/and/one/more/level.txt',
  'raw',
  'files/blame',
  `${'long'.repeat(60)}.txt`,
];
