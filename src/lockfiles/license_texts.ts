/** Licenses by their texts, as files named LICENSE contain them. */

/**
 * Unmistakable phrases of license texts, in lower case and with single spaces. Several phrases must follow each other in order. The first match of a family counts,
 * since later ones are quoted in it.
 */
const families: readonly (readonly [id: string, ...phrases: RegExp[]])[][] = [
  [
    ['AGPL-3.0', /gnu affero general public license version 3/],
    ['LGPL-3.0', /gnu lesser general public license version 3/],
    ['LGPL-2.1', /gnu lesser general public license version 2\.1/],
    ['GPL-3.0', /gnu general public license version 3/],
    ['GPL-2.0', /gnu general public license version 2/],
  ],
  [['Apache-2.0', /apache license,? version 2\.0/]],
  [
    ['MPL-2.0', /mozilla public license,?(?: version| v\.?)? ?2\.0/],
    ['MPL-1.1', /mozilla public license version 1\.1/],
  ],
  [
    ['EPL-2.0', /eclipse public license - v 2\.0/],
    ['EPL-1.0', /eclipse public license - v 1\.0/],
  ],
  [
    ['BSD-4-Clause', /redistribution and use in source and binary forms/, /all advertising materials/],
    [
      'BSD-3-Clause',
      /redistribution and use in source and binary forms/,
      /neither the names? of|names? of .{0,200}may not be used to endorse/,
    ],
    ['BSD-2-Clause', /redistribution and use in source and binary forms/],
  ],
  [['MIT', /permission is hereby granted, free of charge, to any person obtaining a copy/]],
  [
    [
      'ISC',
      /permission to use, copy, modify, and(?:\/or)? distribute this software for any purpose with or without fee is hereby granted, provided/,
    ],
    [
      '0BSD',
      /permission to use, copy, modify, and(?:\/or)? distribute this software for any purpose with or without fee is hereby granted\./,
    ],
  ],
  [['Unlicense', /this is free and unencumbered software released into the public domain/]],
  [['Zlib', /altered source versions must be plainly marked as such/]],
  [['CC0-1.0', /cc0 1\.0 universal/]],
  [['BSL-1.0', /boost software license - version 1\.0/]],
];

/** No license is longer; a text of several is recognised by its beginning. */
const maximumLength = 40_000;

/** Whether a text contains phrases in their order. */
function hasAll(text: string, phrases: readonly RegExp[]): boolean {
  let rest = text;
  for (const phrase of phrases) {
    const found = phrase.exec(rest);
    if (!found) return false;
    rest = rest.slice(found.index + found[0].length);
  }
  return true;
}

/** The SPDX identifiers of the licenses that a text contains; empty when none is recognized. */
export function licensesInText(text: string): string[] {
  const plain = text
    .slice(0, maximumLength)
    .toLowerCase()
    .replace(/[\s*#]+/g, ' ');
  return families.flatMap((family) => family.find(([, ...phrases]) => hasAll(plain, phrases))?.[0] ?? []);
}
