// This classic script runs before the first paint, so that a remembered theme does not flash the other one.
try {
  const chosen = localStorage.getItem('superbloom.theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  document.documentElement.dataset.theme = ''
}
