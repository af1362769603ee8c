import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ianaNames } from './iana_names.ts';
import { ianaZone, isTimeZone, RAILS_ZONES } from './time_zones.ts';

const isKnownToIntl = (zone: string) => {
  try {
    return Boolean(new Intl.DateTimeFormat('en-US', { timeZone: zone }));
  } catch {
    return false;
  }
};

test('IANA names are themselves, links and old names included', () => {
  const names = [
    'UTC',
    'Etc/UTC',
    'Europe/Berlin',
    'America/Argentina/Ushuaia',
    'Australia/Lord_Howe',
    'Asia/Kolkata',
    'Asia/Calcutta',
  ];
  for (const name of [
    ...names,
    'Europe/Kyiv',
    'Europe/Kiev',
    'US/Pacific',
    'EST5EDT',
    'GMT',
    'Zulu',
    'Singapore',
    'Etc/GMT+12',
  ]) {
    assert.equal(ianaZone(name), name);
  }
});

test('Rails time zone names map to IANA zones', () => {
  assert.equal(ianaZone('Berlin'), 'Europe/Berlin');
  assert.equal(ianaZone('Eastern Time (US & Canada)'), 'America/New_York');
  assert.equal(ianaZone('Pacific Time (US & Canada)'), 'America/Los_Angeles');
  assert.equal(ianaZone('Kolkata'), 'Asia/Kolkata');
  assert.equal(ianaZone("Nuku'alofa"), 'Pacific/Tongatapu');
  assert.equal(RAILS_ZONES.size, 151);
});

test('every name leads to a zone the runtime can compute with', () => {
  assert.equal(new Set(ianaNames()).size, 597);
  const zones = [...ianaNames(), ...RAILS_ZONES.keys(), ...Intl.supportedValuesOf('timeZone')].map(ianaZone);
  assert.deepEqual(
    zones.filter((zone) => zone === undefined || !isKnownToIntl(zone)),
    [],
  );
});

test('offsets, abbreviations, other spellings and nothing are no time zones, though Intl takes some of them', () => {
  const none = [
    '',
    ' ',
    '+02:00',
    '-0530',
    'UTC+2',
    'Z',
    'PST',
    'IST',
    'SystemV/EST5',
    'europe/berlin',
    'utc',
    'berlin',
    'BERLIN',
  ];
  for (const name of [
    ...none,
    ' UTC',
    'Europe/Berlin ',
    'Europe',
    'Europe/',
    'Europe/Nowhere',
    'Factory',
    'localtime',
    'constructor',
  ]) {
    assert.equal(isTimeZone(name), false, name);
  }
});
