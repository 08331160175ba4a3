// A classic script, run before the first paint: a remembered theme must not flash the other one.
try {
  const chosen = localStorage.getItem('superbloom.theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  document.documentElement.dataset.theme = ''
}
