from scipy.spatial.transform import *
